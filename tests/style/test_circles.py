"""No files import each other in a circle, nor do packages beside each other.

A circle that is there today is listed, and a circle may not grow. See test_imports.py for the
directions that imports may take.
"""

from collections.abc import Iterable, Mapping

import grimp
import pytest

Graph = Mapping[str, Iterable[str]]
Circle = frozenset[str]

KNOWN_FILES: tuple[str, ...] = ()
KNOWN_PACKAGES: tuple[str, ...] = ()


def names(circle: str) -> Circle:
    return frozenset(f"kraftproof.{name}" for name in circle.split())


def circles(graph: Graph) -> list[Circle]:
    """Return the sets of nodes that all reach each other, by Kosaraju's two passes."""
    reverse: dict[str, list[str]] = {}
    for node, targets in graph.items():
        for target in targets:
            reverse.setdefault(target, []).append(node)
    placed: set[str] = set()
    found = []
    for node in reversed(finished(graph)):
        if node not in placed:
            members = finished(reverse, [node], placed)
            if len(members) > 1:
                found.append(frozenset(members))
    return found


def finished(
    graph: Graph, starts: Iterable[str] | None = None, seen: set[str] | None = None
) -> list[str]:
    """Return the nodes in the order in which a depth-first search leaves them."""
    seen = set() if seen is None else seen
    order = []
    for start in graph if starts is None else starts:
        if start in seen:
            continue
        seen.add(start)
        stack = [(start, iter(graph.get(start, ())))]
        while stack:
            node, targets = stack[-1]
            target = next((one for one in targets if one not in seen), None)
            if target is None:
                order.append(node)
                stack.pop()
            else:
                seen.add(target)
                stack.append((target, iter(graph.get(target, ()))))
    return order


def sibling_graph(graph: Graph) -> dict[str, set[str]]:
    """Return the imports between the children of each package, at the first level that differs."""
    found: dict[str, set[str]] = {}
    for module, targets in graph.items():
        for target in targets:
            here, there = module.split("."), target.split(".")
            shared = next(
                (i for i, (a, b) in enumerate(zip(here, there, strict=False)) if a != b), None
            )
            if shared is not None:
                child = ".".join(here[: shared + 1])
                found.setdefault(child, set()).add(".".join(there[: shared + 1]))
    return found


@pytest.fixture(scope="module")
def imports() -> dict[str, list[str]]:
    built = grimp.build_graph("kraftproof", cache_dir=None, exclude_type_checking_imports=True)
    return {
        module: sorted(built.find_modules_directly_imported_by(module))
        for module in sorted(built.modules)
    }


def refuse_new(found: list[Circle], known: tuple[str, ...]) -> None:
    allowed = [names(circle) for circle in known]
    new = [sorted(circle) for circle in found if not any(circle <= one for one in allowed)]
    assert new == [], "a new circle of imports"
    gone = [sorted(one) for one in allowed if not any(circle <= one for circle in found)]
    assert gone == [], "these circles are gone: take them off the list"


def test_files_import_in_no_circle(imports: dict[str, list[str]]) -> None:
    assert len(imports) > 500
    refuse_new(circles(imports), KNOWN_FILES)


def test_packages_beside_each_other_import_in_no_circle(imports: dict[str, list[str]]) -> None:
    packages = {module.rpartition(".")[0] for module in imports}
    found = circles(sibling_graph(imports))
    refuse_new([circle for circle in found if circle & packages], KNOWN_PACKAGES)


def test_a_circle_is_found() -> None:
    graph = {"p.a": ["p.b"], "p.b": ["p.c"], "p.c": ["p.a", "p.d"], "p.d": ["p.e"], "p.e": []}
    assert circles(graph) == [{"p.a", "p.b", "p.c"}]
    assert circles({"p.a": ["p.b"], "p.b": ["p.c"], "p.c": []}) == []


def test_a_circle_of_packages_is_found_though_their_files_have_none() -> None:
    graph = {"p.a.x": ["p.b.x"], "p.b.y": ["p.a.y"], "p.a.y": [], "p.b.x": []}
    assert circles(graph) == []
    assert circles(sibling_graph(graph)) == [{"p.a", "p.b"}]


def test_a_new_circle_and_a_listed_one_that_is_gone_are_refused() -> None:
    refuse_new([names("a b")], ("a b c",))
    with pytest.raises(AssertionError, match="a new circle"):
        refuse_new([names("a b d")], ("a b c",))
    with pytest.raises(AssertionError, match="are gone"):
        refuse_new([], ("a b c",))
