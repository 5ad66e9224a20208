"""Order the test files by how near they are to changed files, along the imports.

A test file is at distance 0 if it changed itself, at 1 if it imports a changed module, and so on.
Helpers in tests/ count like modules. The name of a module in a string counts as an import, since
tests start commands in processes of their own.
"""

import ast
from collections import deque
from collections.abc import Iterable, Mapping
from pathlib import Path

import grimp

ROOT = Path(__file__).resolve().parent.parent
COMMAND = "kraftproof.__main__"
"""The module that a test starts as the command `kraftproof`."""
DYNAMIC = (
    ("kraftproof.__main__", "kraftproof.cli"),
    ("kraftproof.cli", "kraftproof.commands"),
    ("kraftproof.checkers.models", "kraftproof.checkers.models"),
    ("kraftproof.mutants.catalogue", "kraftproof.mutants.catalogue"),
)
"""Imports by name at run time: importer, and the module or package whose files are imported."""

PAGE_TESTS = "tests/docs/"

Importers = Mapping[str, Iterable[str]]
"""For each module the modules that import it."""


def module_of(path: str) -> str:
    """Return the module of a file: `node/core/x.py` is `kraftproof.node.core.x`."""
    parts = path.removesuffix(".py").removesuffix("/__init__").split("/")
    is_outside = parts[0] in {"kraftproof", "tests", "scripts", "bench"}
    return ".".join(parts if is_outside else ["kraftproof", *parts])


def importers() -> dict[str, set[str]]:
    """Return the importers of each module of the product, the scripts and the tests.

    The tests of a folder count as importers of its conftest.py.
    """
    graph = grimp.build_graph("kraftproof", exclude_type_checking_imports=True)
    found = {
        module: set(graph.find_modules_that_directly_import(module)) for module in graph.modules
    }
    for importer, imported in DYNAMIC:
        for module in graph.modules:
            if module != importer and f"{module}.".startswith(f"{imported}."):
                found[module].add(importer)
    for folder in ("tests", "scripts", "bench"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            importer = module_of(str(path.relative_to(ROOT)))
            for module in named(ast.parse(path.read_text(encoding="utf-8"))):
                found.setdefault(module, set()).add(importer)
            if path.name == "conftest.py":
                tests = path.parent.rglob("test_*.py")
                used_by = {module_of(str(test.relative_to(ROOT))) for test in tests}
                found.setdefault(importer, set()).update(used_by)
    return found


def named(tree: ast.Module) -> set[str]:
    """Return the modules of ours that a file imports, or names in a string."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module)
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.add(COMMAND if node.value == "kraftproof" else node.value)
    ours = ("kraftproof.", "tests.", "scripts.", "bench.")
    return {name for name in found if name.startswith(ours) and " " not in name}


def distances(changed: Iterable[str], graph: Importers) -> dict[str, int]:
    """Return how many imports each module is away from the nearest changed file."""
    found = {module_of(path): 0 for path in changed if path.endswith(".py")}
    queue = deque(found)
    while queue:
        module = queue.popleft()
        for importer in sorted(graph.get(module, ())):
            if importer not in found:
                found[importer] = found[module] + 1
                queue.append(importer)
    return found


def nearest_first(changed: Iterable[str], graph: Importers, tests: Iterable[str]) -> list[str]:
    """Return the test files that a change concerns, the nearest first.

    The test with the name of a changed file is as near as a test that imports the file. So are the
    tests of pages to a changed page.
    """
    paths = list(changed)
    has_page = any(path.endswith(".md") for path in paths)
    away = distances(paths, graph)
    namesakes = {f"test_{Path(path).stem}" for path in paths}
    found = []
    for test in tests:
        distance = away.get(module_of(test))
        if Path(test).stem in namesakes or (has_page and test.startswith(PAGE_TESTS)):
            distance = 1 if distance is None else min(1, distance)
        if distance is not None:
            found.append((distance, test))
    return [test for _, test in sorted(found)]


def within_budget(
    tests: Iterable[str], seconds: Mapping[str, float], budget: float, unknown: float
) -> tuple[list[str], list[str]]:
    """Split the tests into those that fit into a budget, in their order, and the rest.

    Args:
        tests: The nearest first.
        seconds: The recorded time of each file.
        budget: Seconds for all of them together.
        unknown: Assumed seconds of a file without a record.
    """
    chosen, left = [], []
    for test in tests:
        cost = seconds.get(test, unknown)
        if cost <= budget:
            chosen.append(test)
            budget -= cost
        else:
            left.append(test)
    return chosen, left
