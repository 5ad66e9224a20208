"""Every fenced command of README and docs runs as it stands, and ends with the code it states."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.fences import ROOT, commands, fences, pages, script

BIN = Path(sys.executable).parent
LANGUAGES = {"", "text", "python", "toml", "sh", "sh docker", "sh spark", "sh make"}
TARGET = re.compile(r"^make (\S+)")


def run_page(page: Path, language: str, folder: Path, seconds: int) -> None:
    """Write a page's files into a folder, and run the commands of one language there."""
    blocks = fences(page)
    for block in blocks:
        if block.file_name is not None:
            (folder / block.file_name).write_text(block.text, encoding="utf-8")
    chosen = [block for block in blocks if block.language == language]
    done = subprocess.run(
        ["sh", "-c", script(chosen)],
        cwd=folder,
        env={**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "120"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=seconds,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:]


def with_blocks(language: str) -> list[Path]:
    return [page for page in pages() if any(b.language == language for b in fences(page))]


@pytest.mark.slow
@pytest.mark.parametrize("page", with_blocks("sh"), ids=lambda page: page.name)
def test_the_commands_of_a_page_run(page, tmp_path):
    run_page(page, "sh", tmp_path, 280)


@pytest.mark.docker
@pytest.mark.parametrize("page", with_blocks("sh docker"), ids=lambda page: page.name)
def test_the_commands_of_a_page_run_with_docker(page, tmp_path):
    run_page(page, "sh docker", tmp_path, 280)


@pytest.mark.spark
@pytest.mark.parametrize("page", with_blocks("sh spark"), ids=lambda page: page.name)
def test_the_commands_of_a_page_run_with_spark(page, tmp_path):
    run_page(page, "sh spark", tmp_path, 280)


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_every_block_says_what_it_is_and_every_target_of_make_is_there(page):
    blocks = fences(page)
    assert {block.language for block in blocks} <= LANGUAGES
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for line in (line for b in blocks if b.language == "sh make" for line in commands(b)):
        found = TARGET.match(line)
        assert found, line
        assert f"\n{found[1]}:" in makefile, line


def test_pages_with_commands_are_found():
    names = {page.name for page in with_blocks("sh")}
    assert {"README.md", "tutorial.md", "pytest.md"} <= names
