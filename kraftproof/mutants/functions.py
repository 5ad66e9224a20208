"""Name the functions of a module by their lines."""

import ast
from collections.abc import Iterator


def functions(text: str) -> dict[str, range]:
    """Return the lines of each function and method of a source, by qualified name."""
    return dict(_within(ast.parse(text), ""))


def _within(node: ast.AST, prefix: str) -> Iterator[tuple[str, range]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            name = f"{prefix}{child.name}"
            if not isinstance(child, ast.ClassDef):
                yield name, range(child.lineno, (child.end_lineno or child.lineno) + 1)
            yield from _within(child, f"{name}.")
        else:
            yield from _within(child, prefix)


def function_at(named: dict[str, range], line: int) -> str | None:
    """Return the innermost function that holds a line; None outside of functions."""
    holding = [name for name, lines in named.items() if line in lines]
    return min(holding, key=lambda name: len(named[name]), default=None)
