"""Operators on calls and displays: swapped arguments, a missing field, a dropped element."""

import ast
from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise

from kraftproof.mutants.generator.site import Site
from kraftproof.mutants.generator.source import Replacement, Source


def swapped_arguments(site: Site) -> Iterator[Replacement]:
    """Swap the values of two arguments of a call."""
    node, source = site.node, site.source
    if not isinstance(node, ast.Call):
        return
    positional = [one for one in node.args if not isinstance(one, ast.Starred)]
    named = [one.value for one in node.keywords if one.arg is not None]
    pairs = [*pairwise(positional), *combinations(named, 2)]
    for first, second in pairs:
        first_text, second_text = source.text_of(first), source.text_of(second)
        if first_text != second_text:
            start, first_end = source.span(first)
            second_start, end = source.span(second)
            between = source.text[first_end:second_start]
            yield Replacement(start=start, end=end, text=f"{second_text}{between}{first_text}")


def missing_field(site: Site) -> Iterator[Replacement]:
    """Leave out a named argument of a call, whose default then counts."""
    node, source = site.node, site.source
    if isinstance(node, ast.Call) and node.keywords:
        everything: list[ast.expr | ast.keyword] = [*node.args, *node.keywords]
        for i in range(len(node.args), len(everything)):
            if node.keywords[i - len(node.args)].arg is not None:
                yield _without(source, everything, i)


def dropped_element(site: Site) -> Iterator[Replacement]:
    """Leave out an element of a tuple, a list, a set or a dictionary."""
    node, source = site.node, site.source
    if site.function is None and isinstance(site.parent, ast.Subscript):
        return  # the arguments of a type
    match node:
        case ast.Tuple(elts=elements, ctx=ast.Load()) if len(elements) == 2:
            start, end = source.span(node)
            for one in elements:
                text = source.text_of(one)
                yield Replacement(start=start, end=end, text=f"({text},)")
        case (
            ast.Tuple(elts=elements, ctx=ast.Load())
            | ast.List(elts=elements, ctx=ast.Load())
            | ast.Set(elts=elements)
        ) if len(elements) > 1:
            for i in range(len(elements)):
                yield _without(source, elements, i)
        case ast.Dict(keys=keys, values=values) if len(keys) > 1 and None not in keys:
            starts = [source.span(key)[0] for key in keys if key is not None]
            ends = [source.span(value)[1] for value in values]
            for i in range(len(keys)):
                yield _cut(starts, ends, i)
        case _:
            return


def _without(source: Source, parts: Sequence[ast.expr | ast.keyword], i: int) -> Replacement:
    spans = [source.span(part) for part in parts]
    return _cut([start for start, _ in spans], [end for _, end in spans], i)


def _cut(starts: Sequence[int], ends: Sequence[int], i: int) -> Replacement:
    """Return the removal of a part together with one comma."""
    if i > 0:
        return Replacement(start=ends[i - 1], end=ends[i], text="")
    end = starts[1] if len(starts) > 1 else ends[0]
    return Replacement(start=starts[0], end=end, text="")
