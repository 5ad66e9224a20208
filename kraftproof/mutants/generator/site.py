"""The places of a module where an operator may edit: the nodes of its syntax tree, in order.

Annotations, decorators, assertions, docstrings, f-strings, patterns, imports, `__all__`,
`__slots__` and functions for descriptions are left out.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from kraftproof.mutants.generator.source import Source

Function = ast.FunctionDef | ast.AsyncFunctionDef
DESCRIBING: Final = frozenset({"__repr__", "__str__", "describe"})
"""Functions whose text only people read."""
LEFT_OUT: Final = (ast.Assert, ast.JoinedStr, ast.Import, ast.ImportFrom, ast.pattern)
FIXED_NAMES: Final = frozenset({"__all__", "__slots__", "__match_args__"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """A node of a syntax tree with its parent and its function."""

    source: Source
    node: ast.AST
    parent: ast.AST | None
    function: Function | None
    """The innermost function around the node, or None."""


def sites(source: Source) -> Iterator[Site]:
    """Yield the sites of a module in the order of the source."""
    for child in source.tree.body:
        yield from _below(source, child, None, None)


def _below(
    source: Source, node: ast.AST, parent: ast.AST | None, function: Function | None
) -> Iterator[Site]:
    if isinstance(node, LEFT_OUT) or _is_fixed(node):
        return
    yield Site(source=source, node=node, parent=parent, function=function)
    if isinstance(node, Function):
        if node.name in DESCRIBING:
            return
        function = node
    for child in _children(node):
        yield from _below(source, child, node, function)


def _is_fixed(node: ast.AST) -> bool:
    """Return whether a node is a docstring, a block for type checkers, or a fixed assignment."""
    match node:
        case ast.Expr(value=ast.Constant(value=str())):
            return True
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return True
        case ast.Assign(targets=[ast.Name(id=name)]):
            return name in FIXED_NAMES
        case ast.Call(func=ast.Name(id="NewType" | "TypeVar" | "cast")):
            return True
        case _:
            return False


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the executed children of a node, without annotations and decorators."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            yield from node.body
        case ast.ClassDef():
            yield from node.body
        case ast.AnnAssign():
            if node.value is not None:
                yield node.value
        case ast.Lambda():
            yield node.body
        case ast.ExceptHandler():
            yield from node.body
        case _:
            yield from ast.iter_child_nodes(node)
