"""Shares out the tests of a stage over workers: what uses a costly fixture together stays together.

The scheduler of pytest-xdist for `--dist loadgroup`. Its own, of version 3.8, leaves all tests
apart under pytest 9.2.
"""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from xdist.scheduler import LoadScopeScheduling

ROOT = Path(__file__).resolve().parents[2]
NODES = "nodes of the session"
SESSION = {"ours", "real"}
"""Fixtures that start nodes for all files: these files are one group."""


class ByGroup(LoadScopeScheduling):
    """Gives each worker whole groups of tests."""

    def _split_scope(self, nodeid: str) -> str:
        """Return the group of a test; the test itself if nothing is shared."""
        return group_of(self.config.rootpath / nodeid.partition("::")[0]) or nodeid


@cache
def group_of(path: Path) -> str | None:
    """Return the group of a file's tests, or None if each may run in another worker."""
    functions = list(functions_of(path))
    shared = {one.name for one in functions if is_of_module(one)}
    for folder in path.parents:
        conftest = folder / "conftest.py"
        if conftest.is_file():
            shared |= {one.name for one in functions_of(conftest) if is_of_module(one)}
        if folder in {ROOT, Path(folder.anchor)}:
            break
    asked = {argument.arg for one in functions for argument in one.args.args}
    if asked & SESSION:
        return NODES
    return str(path) if asked & shared else None


def functions_of(path: Path) -> Iterator[ast.FunctionDef]:
    """Yield the functions at the top level of a file."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            yield node


def is_of_module(function: ast.FunctionDef) -> bool:
    """Return whether a function is a fixture that a module's tests share."""
    return any(
        ast.unparse(keyword) == "scope='module'"
        for decorator in function.decorator_list
        if isinstance(decorator, ast.Call)
        for keyword in decorator.keywords
    )
