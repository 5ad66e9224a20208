"""Mutants in processes of their own: by the hook, by the command, and from files elsewhere."""

import subprocess
import sys
from pathlib import Path

import pytest

from kraftproof import mutants
from kraftproof.errors import UsageError
from kraftproof.mutants import Edit, Mutant
from kraftproof.mutants.installation import workload_of

ROOT = Path(__file__).resolve().parents[3]
FILE = """from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="mine",
    title="A majority is everybody",
    source="a test",
    edits=(Edit(module="kraftproof.node.core.raft.quorum", old={old!r}, new="return voters"),),
)
"""


def python(*arguments):
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def mutant_file(directory, old="return voters // 2 + 1"):
    path = directory / "mine.py"
    path.write_text(FILE.format(old=old))
    return path


def test_the_hook_breaks_the_modules_concerned_and_marks_them():
    done = python(
        "-c",
        "from kraftproof import mutants; mutants.install('A19a')\n"
        "from kraftproof.node.core.raft import progress, quorum\n"
        "print(quorum.__mutant__, hasattr(progress, '__mutant__'))\n"
        "print(quorum.vote_result(3, 1, 0).name)",
    )
    assert done.stdout.splitlines() == ["A19a False", "WON"], done.stderr


def test_without_it_the_node_is_whole():
    done = python(
        "-c",
        "from kraftproof.node.core.raft import quorum; print(quorum.vote_result(3, 1, 0).name)",
    )
    assert done.stdout == "PENDING\n", done.stderr


def test_too_late_is_an_error():
    done = python(
        "-c",
        "import kraftproof.node.core.raft.quorum\nfrom kraftproof import mutants\n"
        "try:\n    mutants.install('A19a')\n"
        "except mutants.LateMutantError as error:\n    print(error)",
    )
    assert done.stdout == "mutant A19a: kraftproof.node.core.raft.quorum is imported already\n", (
        done.stderr
    )


def test_a_file_is_a_mutant_too(tmp_path):
    path = mutant_file(tmp_path)
    mutant = mutants.load(str(path))
    assert mutant.mutant_id == str(path)
    done = python(
        "-c",
        f"from kraftproof import mutants; mutants.install({str(path)!r})\n"
        "from kraftproof.node.core.raft import quorum\nprint(quorum.majority(3))",
    )
    assert done.stdout == "3\n", done.stderr


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "there is no such file"),
        ("MUTANT = 1\n", "the file defines no MUTANT"),
        ("def broken(:\n", "can't be read: SyntaxError"),
    ],
)
def test_a_file_that_is_none_says_why(tmp_path, content, reason):
    path = tmp_path / "mine.py"
    if content is not None:
        path.write_text(content)
    with pytest.raises(mutants.UnknownMutantError, match=reason):
        mutants.load(str(path))


def test_the_command_refuses_in_one_line_what_does_not_fit(tmp_path):
    path = mutant_file(tmp_path, old="there is no such text")
    done = python("-m", "kraftproof", "sim", "--seeds", "0", "--mutant", path)
    assert done.returncode == 3
    (line,) = done.stderr.splitlines()
    assert "there is no such text" in line
    assert "0 times" in line


def test_the_command_names_the_first_and_the_last_mutant_of_each_letter():
    done = python("-m", "kraftproof", "sim", "--seeds", "0", "--mutant", "A99")
    assert done.returncode == 3
    (line,) = done.stderr.splitlines()
    by_letter = {}
    for mutant_id in mutants.IDS:
        by_letter.setdefault(mutant_id[0], []).append(mutant_id)
    assert len(by_letter) > 10
    assert all(f"{ids[0]} to {ids[-1]}" in line for ids in by_letter.values())


def test_a_broken_node_refuses_in_one_line_what_it_can_not_be():
    for arguments in (("A99", "--", "server.properties"), ("A18", "server.properties")):
        done = python("-m", "kraftproof.mutants", *arguments)
        assert done.returncode == 1
        assert "Traceback" not in done.stderr


def test_the_list_has_every_mutant_with_its_hash():
    lines = python("-m", "kraftproof.mutants", "--list").stdout.splitlines()
    assert [line.split()[:2] for line in lines] == [
        [mutant.mutant_id, mutant.fingerprint] for mutant in mutants.ALL
    ]


@pytest.mark.parametrize(
    ("module", "given", "workload"),
    [
        ("core.partition.leader", None, "log"),
        ("core.partition.leader", "reassignment", "reassignment"),
        ("core.raft.quorum", None, None),
    ],
)
def test_an_edit_of_the_data_plane_runs_with_records(tmp_path, module, given, workload):
    edit = Edit(module=f"kraftproof.node.{module}", old="class", new="class")
    mutant = Mutant(mutant_id="X1", title="t", source="s", edits=(edit,), workload=given)
    assert mutant.run_workload == workload
    file = tmp_path / "x1.py"
    file.write_text(
        "from kraftproof.mutants.mutant import Edit, Mutant\n\nMUTANT = Mutant(mutant_id='X1', "
        f"title='t', source='s', workload={given!r}, edits=(Edit(module={edit.module!r}, "
        "old='class', new='class'),))\n"
    )
    assert workload_of(str(file)) == workload
    assert workload_of(None) is None
    with pytest.raises(UsageError, match="--mutant Z9: mutant 'Z9': unknown"):
        workload_of("Z9")


@pytest.mark.parametrize("command", ["sim --seeds 0:9", "test --backend simulated"])
def test_a_mutant_of_code_that_no_simulated_run_loads_is_refused_at_once(tmp_path, command):
    path = tmp_path / "mine.py"
    text = FILE.format(old="import asyncio\n").replace("core.raft.quorum", "server.workers")
    path.write_text(text.replace("return voters", "import asyncio as asyncio"))
    done = python("-m", "kraftproof", *command.split(), "--mutant", path)
    assert (done.returncode, done.stdout) == (3, "")
    (line,) = done.stderr.splitlines()
    assert line == (
        f"kraftproof: --mutant {path}: no simulated run loads kraftproof.node.server.workers; "
        "plant it in the processes of a cluster, by --backend local or docker"
    )
