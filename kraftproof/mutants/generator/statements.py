"""Operators on statements: a dropped statement, an early return."""

import ast
from collections.abc import Iterator
from typing import Final

from kraftproof.mutants.generator.site import Function, Site
from kraftproof.mutants.generator.source import Replacement, Source

EMPTY_RETURNS: Final = {"None": ("return",), "bool": ("return False", "return True")}
"""Statements that end a function early, by the text of its return annotation."""
GENERATORS: Final = ("Iterator", "Generator", "AsyncIterator")
SEQUENCES: Final = ("tuple", "Sequence", "Iterable", "Effects")


def dropped_statement(site: Site) -> Iterator[Replacement]:
    """Replace a statement by `pass`: a call, an assignment to a field, a raise, a guard's exit."""
    node, source = site.node, site.source
    if site.function is None or not isinstance(node, ast.stmt) or not _is_droppable(site):
        return
    start, end = source.span(node)
    yield Replacement(start=start, end=end, text="pass")


def _is_droppable(site: Site) -> bool:
    match site.node:
        case ast.Expr(value=ast.Call() | ast.Await() | ast.Yield() | ast.YieldFrom()):
            return True
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            return True
        case ast.AugAssign() | ast.Delete() | ast.Raise() | ast.Continue() | ast.Break():
            return True
        case ast.Return():
            return site.parent is not site.function  # the return of a guard
        case _:
            return False


def early_return(site: Site) -> Iterator[Replacement]:
    """Insert a return before a statement of a function that may return nothing."""
    node, function = site.node, site.function
    if not isinstance(node, ast.stmt) or function is None or site.parent is not function:
        return
    start, _ = site.source.span(node)
    line_start = site.source.text.rfind("\n", 0, start) + 1
    indent = site.source.text[line_start:start]
    if indent.strip() or isinstance(node, ast.Return | ast.Pass):
        return
    for text in _returns(site.source, function):
        yield Replacement(start=start, end=start, text=f"{text}\n{indent}")


def _returns(source: Source, function: Function) -> tuple[str, ...]:
    if function.returns is None:
        return ()
    annotation = source.text_of(function.returns).strip("\"'")
    if annotation in EMPTY_RETURNS:
        return EMPTY_RETURNS[annotation]
    if annotation.startswith(GENERATORS):
        is_generator = any(isinstance(one, ast.Yield | ast.YieldFrom) for one in ast.walk(function))
        return ("return",) if is_generator else ()
    if annotation.endswith("| None"):
        return ("return None",)
    return ("return ()",) if annotation.startswith(SEQUENCES) else ()
