"""Files of at most 300 lines, functions of at most 60; generated code apart."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LONGEST_FILE = 300
LONGEST_FUNCTION = 60
FOLDERS = (
    "node",
    "cluster",
    "nemesis",
    "workloads",
    "checkers",
    "kraftproof",
    "images",
    "tests",
    "bench",
    "scripts",
)

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
HEAD = re.compile(r"^( *)(?:async def|def|class|@)")


def python_files() -> list[Path]:
    found = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
    return [path for path in found if "generated" not in path.relative_to(ROOT).parts]


def length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines from `def` to the last, without the docstring: explaining is never too long."""
    assert function.end_lineno is not None
    lines = function.end_lineno - function.lineno + 1
    if ast.get_docstring(function, clean=False) is None:
        return lines
    docstring = function.body[0]
    assert docstring.end_lineno is not None
    return lines - (docstring.end_lineno - docstring.lineno + 1)


def may_have_long_function(source: str) -> bool:
    """Whether some function could be too long; most files need no parser.

    A function ends at the latest before the next head with at most its indentation.
    """
    open_heads: list[tuple[int, int]] = []
    lines = source.splitlines()
    for number, line in enumerate([*lines, "def end"]):
        if (head := HEAD.match(line)) is None:
            continue
        indentation = len(head[1])
        while open_heads and open_heads[-1][0] >= indentation:
            if number - open_heads.pop()[1] > LONGEST_FUNCTION:
                return True
        open_heads.append((indentation, number))
    return False


def too_long(source: str, name: str) -> Iterator[str]:
    lines = len(source.splitlines())
    if lines > LONGEST_FILE:
        yield f"{name}: {lines} lines, {LONGEST_FILE} are allowed"
    if not may_have_long_function(source):
        return
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, FUNCTIONS) and length(node) > LONGEST_FUNCTION:
            yield f"{name}:{node.lineno}: {node.name} has {length(node)} lines"


def test_files_and_functions_are_short() -> None:
    files = python_files()
    assert files
    strays = [
        stray
        for path in files
        for stray in too_long(path.read_text(encoding="utf-8"), str(path.relative_to(ROOT)))
    ]
    assert strays == []


def test_a_long_file_is_found() -> None:
    assert list(too_long("x = 1\n" * 300, "a.py")) == []
    assert list(too_long("x = 1\n" * 301, "a.py")) == ["a.py: 301 lines, 300 are allowed"]


def test_a_long_function_is_found_and_its_docstring_is_left_out() -> None:
    docstring = '    """One.\n\n    Two.\n    """\n'
    longest = "def f():\n" + docstring + "    x = 1\n" * 59
    assert list(too_long(longest, "a.py")) == []
    assert list(too_long(longest + "    x = 1\n", "a.py")) == ["a.py:1: f has 61 lines"]


def test_a_file_without_a_long_function_needs_no_parser() -> None:
    short = "def f():\n" + "    x = 1\n" * 30
    assert not may_have_long_function(short * 8)
    assert may_have_long_function(short + "    def g(): pass\n" + "    x = 1\n" * 30)


def test_async_and_nested_functions_count() -> None:
    nested = "class A:\n    async def f(self):\n" + "        x = 1\n" * 60
    assert list(too_long(nested, "a.py")) == ["a.py:2: f has 61 lines"]
