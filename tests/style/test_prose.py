"""`scripts.prose` reports vague sentences and fails when a package gets worse."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from scripts import prose

ROOT = Path(__file__).resolve().parents[2]
CLEAR = '"""Append a batch to the log and return its end offset."""\n'
PLANTED = '''"""Append a batch to the log and return its end offset."""

LIMIT = 3
"""Retries of a request before the client gives up.

So many of those that it has, and what
one of them is that there were none."""
'''


def limits(tmp_path: Path, vague: float, sentences: float, folder: str = "code") -> Path:
    path = tmp_path / "limits.tsv"
    path.write_text(f"# comment\n{tmp_path / folder}\t{vague}\t{sentences}\n")
    return path


def tree(tmp_path: Path, text: str, name: str = "module.py") -> Path:
    folder = tmp_path / "code"
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text)
    return folder


def test_a_vague_docstring_is_reported_with_file_and_line(tmp_path):
    folder = tree(tmp_path, PLANTED)
    done = subprocess.run(
        [sys.executable, "-m", "scripts.prose", "--limits", str(limits(tmp_path, 9, 1))],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    assert f"{folder / 'module.py'}:6: So many of those that it has, and what one" in done.stdout
    assert f"prose: {folder}: " in done.stderr
    assert "33.3 % of the sentences are vague, the limit is 1.0 %" in done.stderr


def test_a_clear_tree_passes(tmp_path, capsys):
    tree(tmp_path, CLEAR)
    assert prose.main(["--limits", str(limits(tmp_path, 20, 1))]) == 0
    assert capsys.readouterr().err == ""


def test_the_limit_is_the_last_figure_that_passes(tmp_path, capsys):
    tree(tmp_path, CLEAR)
    tenth_above = prose.measure(tmp_path / "code").vague
    assert prose.main(["--limits", str(limits(tmp_path, tenth_above, 0))]) == 0
    assert prose.main(["--limits", str(limits(tmp_path, tenth_above - 0.1, 0))]) == 1
    assert "of the words are vague" in capsys.readouterr().err


def test_the_figures_are_those_of_the_sentences_of_six_words_and_more(tmp_path):
    tree(
        tmp_path,
        '"""It is. What it was then is that there was one log. See the log of the node."""\n',
    )
    found = prose.measure(tmp_path / "code")
    assert (found.count, found.words, found.vague_words, found.vague_count) == (2, 16, 6, 1)


def test_pages_are_measured_without_code_tables_and_headings(tmp_path):
    page = (
        "# What it is that there is, and who\n\n"
        "| what it is that there is of those | more |\n"
        "```text\nwhat it is that there is of those\n```\n"
        "- A follower copies the log of its leader.\n"
        "- What it is\n  that there is of [those](which/what.md).\n"
    )
    folder = tree(tmp_path, page, "page.md")
    (worst,) = prose.measure(folder).worst(9)
    assert (worst.line, worst.text) == (8, "What it is that there is of those.")
    assert prose.measure(folder).count == 2


def test_tests_and_generated_files_are_left_out(tmp_path):
    folder = tree(tmp_path, CLEAR)
    for name in ("tests", "generated"):
        (folder / name).mkdir()
        (folder / name / "module.py").write_text(PLANTED)
    assert prose.measure(folder).count == 1


def test_recording_lowers_limits_and_never_raises_them(tmp_path):
    tree(tmp_path, CLEAR)
    path = limits(tmp_path, 50, 0)
    assert prose.main(["--limits", str(path), "--record"]) == 0
    recorded = path.read_text()
    vague = prose.measure(tmp_path / "code").vague
    assert recorded == f"# comment\n{tmp_path / 'code'}\t{vague:.1f}\t0.0\n"
    tree(tmp_path, PLANTED)
    assert prose.main(["--limits", str(path), "--record"]) == 1
    assert path.read_text() == recorded


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nowhere\t9\t1\n", "nowhere: no such file or folder"),
        ("scripts\tnine\t1\n", "limits.tsv:1: the line has to be PATH, TAB, percent, TAB, percent"),
        ("scripts\t9\n", "limits.tsv:1: the line has to be PATH, TAB, percent, TAB, percent"),
    ],
)
def test_a_mistake_in_the_limits_is_one_line_and_3(tmp_path, capsys, text, message):
    path = tmp_path / "limits.tsv"
    path.write_text(text)
    assert prose.main(["--limits", str(path)]) == 3
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_broken_python_is_one_line_and_3(tmp_path, capsys):
    folder = tree(tmp_path, "def (:\n")
    assert prose.main([str(folder)]) == 3
    assert capsys.readouterr().err.startswith(f"prose: {folder / 'module.py'}:1: ")


def test_every_package_has_a_limit():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    packages = {*project["tool"]["mypy"]["packages"], "scripts", "docs", "README.md"}
    assert packages <= {limit.path for limit in prose.read_limits(prose.LIMITS)}
