"""Count the runs of each block of the node's code, by probes from an import hook.

A block is a run of statements that starts at the head of a body or behind a compound statement. A
probe is one addition to a list, so a run with probes costs hardly more. Coverage by block decides
which seeds can show a mutant: a seed without a run of the edited block shows nothing.
"""

import ast
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType
from typing import Final

from typing_extensions import override

PREFIX: Final = "kraftproof.node."
COUNTS: Final = "__block_counts__"
"""Name of a module's list of counts."""
GENERATED: Final = ".generated"
COMPOUND: Final = (ast.If, ast.For, ast.While, ast.Try, ast.With, ast.Match, ast.AsyncFor)


@dataclass(frozen=True, slots=True)
class Block:
    """The lines of a block, both inclusive."""

    first: int
    last: int


def _bodies(tree: ast.Module) -> Iterator[list[ast.stmt]]:
    """Yield the bodies below the functions of a module, in a fixed order."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            yield function.body
            for node in ast.walk(function):
                if node is function or isinstance(node, ast.ClassDef):
                    continue
                if isinstance(node, ast.stmt | ast.ExceptHandler | ast.match_case):
                    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                        continue
                    for name in ("body", "orelse", "finalbody"):
                        body = getattr(node, name, None)
                        if isinstance(body, list) and body:
                            yield body


def _heads(body: Sequence[ast.stmt]) -> Iterator[int]:
    """Yield the indices of the statements of a body that begin a block."""
    first = 1 if len(body) > 1 and _is_docstring(body[0]) else 0
    yield first
    for i in range(first + 1, len(body)):
        if isinstance(body[i - 1], COMPOUND):
            yield i


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _places(tree: ast.Module) -> list[tuple[list[ast.stmt], int, Block]]:
    """Return the blocks of a module with their bodies and first statements, in a fixed order."""
    places = []
    seen: set[int] = set()
    for body in _bodies(tree):
        if id(body) in seen:
            continue
        seen.add(id(body))
        heads = list(_heads(body))
        for head, following in zip(heads, [*heads[1:], len(body)], strict=True):
            last = body[following - 1]
            places.append((body, head, Block(body[head].lineno, last.end_lineno or last.lineno)))
    return places


def blocks(text: str) -> list[Block]:
    """Return the blocks of a module's source; the index of a block is the index of its count."""
    return [block for _, _, block in _places(ast.parse(text))]


def block_at(text: str, line: int) -> int | None:
    """Return the index of the innermost block that holds a line; None outside of functions."""
    holding = [
        (one.last - one.first, -one.first, i)
        for i, one in enumerate(blocks(text))
        if one.first <= line <= one.last
    ]
    return min(holding)[2] if holding else None


def naming_blocks(text: str, name: str) -> set[int] | None:
    """Return the blocks that name a variable or an attribute; None if other code names it too."""
    tree = ast.parse(text)
    found: set[int] = set()
    places = [(block.last - block.first, block, i) for i, block in enumerate(blocks(text))]
    for node in ast.walk(tree):
        is_read = isinstance(getattr(node, "ctx", None), ast.Load)
        if not is_read or name not in (getattr(node, "id", None), getattr(node, "attr", None)):
            continue
        line = getattr(node, "lineno", 0)
        holding = [one for one in places if one[1].first <= line <= one[1].last]
        if not holding:
            return None
        found.add(min(holding, key=lambda one: one[0])[2])
    return found


def constant_at(text: str, line: int) -> str | None:
    """Return the variable whose assignment outside of functions holds a line; None if none."""
    for node in _outside_functions(ast.parse(text)):
        if node.lineno <= line <= (node.end_lineno or node.lineno):
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", 0)]
            if len(targets) == 1 and isinstance(targets[0], ast.Name):
                return targets[0].id
    return None


def _outside_functions(tree: ast.Module) -> Iterator[ast.stmt]:
    """Yield the statements of a module and of its classes."""
    for statement in tree.body:
        if isinstance(statement, ast.ClassDef):
            yield from statement.body
        else:
            yield statement


class ProbingLoader(SourceFileLoader):
    """A loader that inserts a probe at the start of each block."""

    @override
    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        tree = ast.parse(self.get_data(path))
        places = _places(tree)
        for i, (body, head, _) in reversed(list(enumerate(places))):
            probe = ast.parse(f"{COUNTS}[{i}] += 1").body[0]
            body.insert(head, ast.copy_location(probe, body[head]))
        ast.fix_missing_locations(tree)
        code: CodeType = compile(tree, path, "exec", dont_inherit=True)
        return code

    @override
    def exec_module(self, module: ModuleType) -> None:
        path = self.get_filename(module.__name__)
        module.__dict__[COUNTS] = [0] * len(blocks(self.get_data(path).decode()))
        super().exec_module(module)


class ProbingFinder(MetaPathFinder):
    """A finder of the node's modules, without generated code."""

    @override
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not fullname.startswith(PREFIX) or GENERATED in fullname:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.origin is not None and spec.origin.endswith(".py"):
            spec.loader = ProbingLoader(fullname, spec.origin)
        return spec


def install_probes() -> None:
    """Insert probes into the node's modules at their imports from now on."""
    sys.meta_path.insert(0, ProbingFinder())


def take_counts() -> dict[str, dict[int, int]]:
    """Return the counts above 0 since the last call, by module and block, and reset the counts."""
    taken = {}
    for name, module in sorted(sys.modules.items()):
        counts = module.__dict__.get(COUNTS) if name.startswith(PREFIX) else None
        if counts is not None and any(counts):
            taken[name] = {i: count for i, count in enumerate(counts) if count}
            counts[:] = [0] * len(counts)
    return taken
