"""Ctrl-C ends `kraftproof mutants` and the searches that it has begun."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.command import begin
from tests.support.long_cases import long

pytestmark = pytest.mark.simulation

PATIENCE_S = 30


def is_gone(child):
    return not Path(f"/proc/{child}").exists()


def wait_for(find):
    deadline = time.monotonic() + PATIENCE_S
    while not (found := find()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return found


@pytest.mark.parametrize("number", [signal.SIGINT, long(signal.SIGTERM)])
def test_ctrl_c_ends_every_search(number):
    process = begin(
        *("mutants", "clean", "--jobs", "2"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        searches = wait_for(lambda: searches_of(process.pid))
        process.send_signal(number)
        _, err = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 130
        assert err == "kraftproof: interrupted\n"
        wait_for(lambda: all(map(is_gone, searches)))
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()


def searches_of(pid):
    """The processes that any of its threads has started."""
    tasks = Path(f"/proc/{pid}/task")
    return [child for task in tasks.iterdir() for child in (task / "children").read_text().split()]


def test_a_search_whose_folder_is_gone_ends_without_a_word(tmp_path):
    gone = str(tmp_path / "gone")
    code = (
        "from pathlib import Path\n"
        "from kraftproof.mutants.sim_processes import _begin, _sim\n"
        f"_begin(_sim, ['sim'], Path({gone!r}), 0)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")
