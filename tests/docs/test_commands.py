"""Every fenced command of README and docs runs as it stands, and ends with the code it states."""

import os
import re
import subprocess
import sys
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

import pytest

from tests.docs.fences import (
    OUTPUT,
    ROOT,
    Fence,
    commands,
    comparable,
    fences,
    pages,
    script,
    shown_outputs,
    without_comment,
)
from tests.support.long_cases import long

BIN = Path(sys.executable).parent
LANGUAGES = {
    "",
    "text",
    OUTPUT,
    "python",
    "toml",
    "sh",
    "sh docker",
    "sh spark",
    "sh long",
    "sh make",
}
FIRST, SECOND = "README.md", "tutorial.md"
"""Pages that show many equal commands; these run once, for both pages in one folder."""
TARGET = re.compile(r"^make (\S+)")


def run_page(
    page: Path, language: str, folder: Path, seconds: int, known: Iterable[str] = ()
) -> None:
    """Write a page's files into a folder, and run the commands of one language there.

    Commands that are `known` ran there before, and are left out.
    """
    blocks = fences(page)
    for block in blocks:
        if block.file_name is not None:
            (folder / block.file_name).write_text(block.text, encoding="utf-8")
    chosen = [block for block in blocks if block.language == language]
    done = subprocess.run(
        ["sh", "-c", script(chosen, known)],
        cwd=folder,
        env={**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "120"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=seconds,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:]
    for number, shown in shown_outputs(blocks, language).items():
        printed = (folder / f"output-{number}").read_text(encoding="utf-8")
        assert comparable(printed) == shown


def with_blocks(language: str) -> list[Path]:
    return [page for page in pages() if any(b.language == language for b in fences(page))]


LONG = {"logs.md", "pytest.md", "systems.md"}
"""Pages whose commands other tests run as well; `make test-long` runs the pages."""
OTHERS = [
    long(page) if page.name in LONG else page
    for page in with_blocks("sh")
    if page.name not in {FIRST, SECOND}
]


@pytest.mark.slow
@pytest.mark.parametrize("page", OTHERS, ids=lambda page: page.name)
def test_the_commands_of_a_page_run(page, tmp_path):
    run_page(page, "sh", tmp_path, 280)


@pytest.mark.simulation
@pytest.mark.slow
def test_the_commands_of_the_first_page_run(tmp_path):
    run_page(ROOT / FIRST, "sh", tmp_path, 280)


@pytest.mark.long
def test_the_commands_of_the_first_two_pages_run(tmp_path):
    first, second = (next(page for page in pages() if page.name == it) for it in (FIRST, SECOND))
    run_page(first, "sh", tmp_path, 280)
    lines = [line for block in fences(first) if block.language == "sh" for line in commands(block)]
    ran = {without_comment(line) for line in lines}
    for output in tmp_path.glob("output-*"):
        output.unlink()
    run_page(second, "sh", tmp_path, 280, known=ran)


@pytest.mark.docker
@pytest.mark.kafka
@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize("page", with_blocks("sh long"), ids=lambda page: page.name)
def test_the_long_commands_of_a_page_run(page, tmp_path):
    run_page(page, "sh long", tmp_path, 880)


@pytest.mark.docker
@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [long(page) if page.name in LONG else page for page in with_blocks("sh docker")],
    ids=lambda page: page.name,
)
def test_the_commands_of_a_page_run_with_docker(page, tmp_path):
    run_page(page, "sh docker", tmp_path, 280)


@pytest.mark.long
@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize("page", with_blocks("sh spark"), ids=lambda page: page.name)
def test_the_commands_of_a_page_run_with_spark(page, tmp_path):
    run_page(page, "sh spark", tmp_path, 280)


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_every_block_says_what_it_is_and_every_target_of_make_is_there(page):
    blocks = fences(page)
    assert {b.language for b in blocks if b.file_name is None} <= LANGUAGES
    for before, block in pairwise([None, *blocks]):
        if block is not None and block.language == OUTPUT:
            assert before is not None, "an output without a command"
            assert before.language.startswith("sh"), "an output without a command"
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for line in (line for b in blocks if b.language == "sh make" for line in commands(b)):
        found = TARGET.match(line)
        assert found, line
        assert f"\n{found[1]}:" in makefile, line


def test_pages_with_commands_are_found():
    names = {page.name for page in with_blocks("sh")}
    assert {"README.md", "tutorial.md", "pytest.md", "checkers.md"} <= names


def test_an_equal_command_of_a_later_page_is_left_out(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```sh\nfalse   # exit code 1\necho  2\nfalse\n```\n")
    blocks = fences(page)
    known = {without_comment("false  # why: exit code 1"), without_comment("echo 2 # two")}
    lines = script(blocks, known).splitlines()
    assert "false" in lines
    assert not {"echo  2", "false   # exit code 1"} & set(lines)


def test_outputs_belong_to_the_commands_before_them():
    blocks = [
        Fence(language="sh", text="true\n"),
        Fence(language="text", text="no output\n"),
        Fence(language="sh", text="echo two 0.25 s\n"),
        Fence(language=OUTPUT, text="two 0.1 s  \n"),
    ]
    assert shown_outputs(blocks, "sh") == {1: "two 0.0 s"}
    assert shown_outputs(blocks, "sh docker") == {}


def test_a_page_with_another_output_is_reported(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```sh\nA=1\necho $A 0.25 s\n```\n```text output\n1 0.5 s\n```\n")
    run_page(page, "sh", tmp_path, 20)
    (tmp_path / "output-0").unlink()
    page.write_text("```sh\necho 1\nexit 2\n```\n")
    with pytest.raises(AssertionError, match="exit"):
        run_page(page, "sh", tmp_path, 20)
    (tmp_path / "output-0").unlink(missing_ok=True)
    page.write_text("```sh\necho 1\n```\n```text output\n2\n```\n")
    with pytest.raises(AssertionError, match="1"):
        run_page(page, "sh", tmp_path, 20)
