"""Resolve paths and patterns in a tree, as a shell does."""

import fnmatch
from collections.abc import Iterator

from msgspec import Struct

from kraftproof.node.tools.metadata_shell.tree import Folder, Tree


class Found(Struct, frozen=True):
    """A node of the tree with its path from the root."""

    path: tuple[str, ...]
    node: Tree

    @property
    def text(self) -> str:
        """Return the absolute path."""
        return "/" + "/".join(self.path)


def parts_of(directory: tuple[str, ...], path: str) -> tuple[str, ...]:
    """Return the components of a path, seen from a directory; `..` leaves a directory."""
    parts = [] if path.startswith("/") else list(directory)
    for part in path.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in {"", "."}:
            parts.append(part)
    return tuple(parts)


def find(root: Folder, parts: tuple[str, ...]) -> list[Found]:
    """Return the nodes of a path whose components may be patterns, in order of names."""
    return list(_find(Found((), root), parts))


def _find(found: Found, parts: tuple[str, ...]) -> Iterator[Found]:
    if not parts:
        yield found
        return
    if isinstance(found.node, str):
        return
    first, rest = parts[0], parts[1:]
    if first in found.node:
        yield from _find(Found((*found.path, first), found.node[first]), rest)
        return
    for name in names_in(found.node):
        if fnmatch.fnmatchcase(name, first):
            yield from _find(Found((*found.path, name), found.node[name]), rest)


def names_in(folder: Folder) -> list[str]:
    """Return the names in a directory: numbers in their order, then other names."""
    return sorted(
        folder, key=lambda name: (not name.isdecimal(), len(name) * name.isdecimal(), name)
    )


def walk(found: Found) -> Iterator[Found]:
    """Yield a node and everything below the node."""
    yield found
    if isinstance(found.node, dict):
        for name in names_in(found.node):
            yield from walk(Found((*found.path, name), found.node[name]))
