"""The operator on names: a wrong variable, or a wrong field of the same value."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import lru_cache

from kraftproof.mutants.generator.site import Function, Site
from kraftproof.mutants.generator.source import Replacement, Source


def wrong_variable(site: Site) -> Iterator[Replacement]:
    """Read a wrong variable of the function, or a wrong field of the same value.

    mypy later rejects variables and fields of a wrong type.
    """
    node, source = site.node, site.source
    is_called = isinstance(site.parent, ast.Call) and site.parent.func is node
    if site.function is None or is_called or isinstance(site.parent, ast.Attribute):
        return
    match node:
        case ast.Name(id=name, ctx=ast.Load()):
            others = _variables(source, site.function, name, node.lineno)
            start, end = source.span(node)
        case ast.Attribute(value=value, attr=name, ctx=ast.Load()):
            others = tuple(sorted(_fields(source).get(source.text_of(value), frozenset()) - {name}))
            end = source.span(node)[1]
            start = end - len(name)
        case _:
            return
    for other in others:
        yield Replacement(start=start, end=end, text=other)


def _variables(source: Source, function: Function, name: str, line: int) -> tuple[str, ...]:
    """Return the variables of the same annotation with an assignment before a line."""
    annotations: dict[str, str] = {}
    arguments = (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
    for one in arguments:
        annotations[one.arg] = "" if one.annotation is None else source.text_of(one.annotation)
    for statement in ast.walk(function):
        if isinstance(statement, ast.Assign) and statement.lineno < line:
            for target in statement.targets:
                for part in ast.walk(target):
                    if isinstance(part, ast.Name):
                        annotations.setdefault(part.id, "?")
    annotations.pop("self", None)
    wanted = annotations.get(name)
    if wanted is None:
        return ()
    return tuple(
        sorted(
            one
            for one, annotation in annotations.items()
            if one != name and (annotation == wanted or "?" in {annotation, wanted})
        )
    )


@lru_cache(maxsize=4)
def _fields(source: Source) -> dict[str, frozenset[str]]:
    """Return the fields of each value in a module, by the text of the value."""
    read: defaultdict[str, set[str]] = defaultdict(set)
    called = {id(one.func) for one in ast.walk(source.tree) if isinstance(one, ast.Call)}
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Attribute) and id(node) not in called:
            read[source.text_of(node.value)].add(node.attr)
    return {value: frozenset(names) for value, names in read.items()}
