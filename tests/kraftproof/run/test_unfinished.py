"""Directories and files of unfinished work: none is left, wherever an interrupt meets the work."""

import json
import subprocess
import sys

from tests.support.command import ROOT
from tests.support.random_cases import is_long

WORK = """
import json, os, shutil, sys, tempfile
from pathlib import Path
sys.path.insert(0, "checkers")  # as a module by itself, since each child ends all that is imported
from unfinished import temporary_directory, unfinished, unfinished_directory

root = Path(sys.argv[1])
TRACED = ("checkers/unfinished.py", "/shutil.py", "/pathlib.py", "/contextlib.py", "<string>")
DONE, INTERRUPTED = 7, 8

def work(folder):
    with temporary_directory("one-") as made:
        (made / "file").touch()
    with unfinished_directory(folder / "two") as made:
        (made / "inner").mkdir()
        (made / "inner" / "file").touch()
    with unfinished(folder / "three") as part:
        part.write_text("text")
        part.replace(folder / "kept")

def interrupting(number):
    # Raises KeyboardInterrupt at the instruction of that number.
    seen = 0
    def trace(frame, event, argument):
        nonlocal seen
        if not frame.f_code.co_filename.endswith(TRACED):
            return None
        frame.f_trace_opcodes = True
        seen += event == "opcode"
        if seen == number:
            sys.settrace(None)
            raise KeyboardInterrupt
        return trace
    return trace

def attempt(number, folder):
    sys.settrace(interrupting(number))
    try:
        work(folder)
        sys.settrace(None)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    sys.exit(DONE)

left, number, status = {}, 1, INTERRUPTED
while status == INTERRUPTED:
    folder = root / str(number)
    folder.mkdir()
    child = os.fork()
    if child == 0:
        tempfile.tempdir = str(folder)
        attempt(number, folder)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    names = sorted(path.name for path in folder.iterdir())
    if set(names) - {"kept"}:
        left[number] = names
    shutil.rmtree(folder)
    number += STEP
print(json.dumps({"instructions": number, "left": left, "status": status, "names": names}))
"""
STEP = 13 if is_long() else 83
"""Instructions from one interrupt to the next."""


def test_an_interrupt_at_any_instruction_leaves_nothing(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", WORK.replace("STEP", str(STEP)), str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=180,
        check=True,
    )
    told = json.loads(done.stdout)
    assert told["left"] == {}, done.stderr
    assert (told["status"], told["names"]) == (7, ["kept"])
    assert told["instructions"] > 1000
    assert "Traceback" not in done.stderr
