"""Operators on expressions: comparisons, conditions, arithmetic, constants and off by one."""

import ast
import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Final

from kraftproof.mutants.generator.site import Site
from kraftproof.mutants.generator.source import Replacement, Source

OPPOSITES: Final[Mapping[type[ast.cmpop], tuple[str, str]]] = {
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Lt: ("<", ">"),
    ast.Gt: (">", "<"),
    ast.LtE: ("<=", ">="),
    ast.GtE: (">=", "<="),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
}
BOUNDARIES: Final[Mapping[type[ast.cmpop], tuple[str, str]]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
}
ARITHMETIC: Final[Mapping[type[ast.operator], tuple[str, str]]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "//"),
    ast.FloorDiv: ("//", "*"),
}
FUNCTIONS: Final = {"min": "max", "max": "min", "any": "all", "all": "any"}
COUNTED: Final = re.compile(
    r"(?:^|_)(?:offset|epoch|size|index|count|position|end|limit|length|version|number|id|ns|ms)$"
)
"""Names of quantities with off-by-one mistakes."""


def comparison(site: Site) -> Iterator[Replacement]:
    """Turn a comparison round: == becomes !=, < becomes >."""
    yield from _compared(site, OPPOSITES)


def boundary(site: Site) -> Iterator[Replacement]:
    """Move a boundary by one: < becomes <=."""
    yield from _compared(site, BOUNDARIES)


def _compared(
    site: Site, table: Mapping[type[ast.cmpop], tuple[str, str]]
) -> Iterator[Replacement]:
    node = site.node
    if not isinstance(node, ast.Compare):
        return
    operands = [node.left, *node.comparators]
    for i, operator in enumerate(node.ops):
        if type(operator) in table:
            old, new = table[type(operator)]
            yield from _between(site.source, operands[i], operands[i + 1], old, new)


def _between(
    source: Source, left: ast.expr, right: ast.expr, old: str, new: str
) -> Iterator[Replacement]:
    """Yield the replacement of an operator between two operands."""
    start, end = source.span(left)[1], source.span(right)[0]
    words = r"\s+".join(re.escape(word) for word in old.split())
    found = re.search(rf"(?<![<>=!*/]){words}(?![<>=*/])", source.text[start:end])
    if found is not None:
        yield Replacement(start=start + found.start(), end=start + found.end(), text=new)


def negated_condition(site: Site) -> Iterator[Replacement]:
    """Negate the condition of a branch, a loop or a filter; turn `and` into `or`."""
    node, source = site.node, site.source
    match node:
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
            yield _negation(source, test)
        case ast.comprehension(ifs=conditions):
            yield from (_negation(source, one) for one in conditions)
        case ast.BoolOp(op=operator, values=values):
            old, new = ("and", "or") if isinstance(operator, ast.And) else ("or", "and")
            for left, right in pairwise(values):
                yield from _between(source, left, right, old, new)
        case _:
            return


def _negation(source: Source, test: ast.expr) -> Replacement:
    start, end = source.span(test)
    is_negated = isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
    operand = test.operand if isinstance(test, ast.UnaryOp) and is_negated else None
    text = f"not {source.operand(test)}" if operand is None else source.operand(operand)
    return Replacement(start=start, end=end, text=text)


def swapped_branches(site: Site) -> Iterator[Replacement]:
    """Swap the two values of a conditional expression."""
    node, source = site.node, site.source
    if isinstance(node, ast.IfExp):
        start, end = source.span(node)
        body, test, other = (source.operand(one) for one in (node.body, node.test, node.orelse))
        yield Replacement(start=start, end=end, text=f"{other} if {test} else {body}")


def arithmetic(site: Site) -> Iterator[Replacement]:
    """Replace + by -, * by //, min by max, any by all, and the reverse."""
    node, source = site.node, site.source
    match node:
        case ast.BinOp(left=left, op=operator, right=right) if type(operator) in ARITHMETIC:
            old, new = ARITHMETIC[type(operator)]
            yield from _between(source, left, right, old, new)
        case ast.AugAssign(target=target, op=operator, value=value) if type(operator) in ARITHMETIC:
            old, new = ARITHMETIC[type(operator)]
            start, end = source.span(target)[1], source.span(value)[0]
            place = source.text.find(f"{old}=", start, end)
            if place >= 0:
                yield Replacement(start=place, end=place + len(old), text=new)
        case ast.Call(func=ast.Name(id=name) as function) if name in FUNCTIONS:
            start, end = source.span(function)
            yield Replacement(start=start, end=end, text=FUNCTIONS[name])
        case _:
            return


def constant(site: Site) -> Iterator[Replacement]:
    """Replace a whole number by a neighbour, and a truth value by its opposite."""
    node, source = site.node, site.source
    if not isinstance(node, ast.Constant) or not isinstance(node.value, int):
        return
    start, end = source.span(node)
    if isinstance(node.value, bool):
        yield Replacement(start=start, end=end, text=str(not node.value))
        return
    for value in (node.value + 1, node.value - 1):
        text = str(value) if value >= 0 else f"({value})"
        yield Replacement(start=start, end=end, text=text)


def off_by_one(site: Site) -> Iterator[Replacement]:
    """Shift a counted quantity by one, drop a `+ 1`, and move a bound of a slice."""
    node, source = site.node, site.source
    match node:
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=ast.Constant(value=1)):
            start, end = source.span(node)
            yield Replacement(start=start, end=end, text=source.operand(left))
        case ast.Slice(lower=lower, upper=upper):
            for bound in (lower, upper):
                if bound is not None:
                    yield from _shifted(source, bound)
        case ast.Call(func=ast.Name(id="len")):
            yield from _shifted(source, node)
        case ast.Name(id=name, ctx=ast.Load()) | ast.Attribute(attr=name, ctx=ast.Load()) if (
            COUNTED.search(name) and not isinstance(site.parent, ast.Attribute)
        ):
            assert isinstance(node, ast.expr), "a name and an attribute are expressions"
            is_called = isinstance(site.parent, ast.Call) and site.parent.func is node
            if not is_called:
                yield from _shifted(source, node)
        case _:
            return


def _shifted(source: Source, node: ast.expr) -> Iterator[Replacement]:
    start, end = source.span(node)
    for shift in ("+ 1", "- 1"):
        yield Replacement(start=start, end=end, text=f"({source.operand(node)} {shift})")
