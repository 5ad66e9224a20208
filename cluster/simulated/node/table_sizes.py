"""Count the entries of every table in a node's core and shell, whatever the table is for.

The walk follows the attributes of the node's own objects. It leaves out the log and the image,
which have invariants of their own, and the values that pass through (events and effects).
"""

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Final

from kraftproof.node.core.log.log import Log

PACKAGES: Final = ("kraftproof.node.core.", "kraftproof.node.shell.")
"""The packages whose objects are looked into."""
VALUES: Final = frozenset(
    (
        "kraftproof.node.core.base.config",
        "kraftproof.node.core.effects",
        "kraftproof.node.core.events",
        "kraftproof.node.core.metadata.image",
    )
)
"""The modules whose objects are values, which no step changes."""
TABLES: Final = (dict, list, deque, set, tuple)


def table_sizes(*roots: object) -> Iterator[tuple[str, int]]:
    """Yield each table that the roots reach, as `Class.attribute`, with its number of entries."""
    seen: set[int] = set()
    waiting: list[Any] = list(roots)
    while waiting:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        kind = type(one)
        for name in _attributes(one, kind):
            value: Any = getattr(one, name, None)
            if value is None:
                continue
            if isinstance(value, TABLES):
                yield f"{kind.__name__}.{name.lstrip('_')}", len(value)
                entries = _entries(value)
                if any(map(_is_own, set(map(type, entries)))):
                    waiting.extend(entry for entry in entries if _is_own(type(entry)))
            elif _is_own(type(value)):
                waiting.append(value)


def _entries(table: Collection[Any]) -> Collection[Any]:
    """Return the entries of a table; the keys of a mapping are ids."""
    return table.values() if isinstance(table, Mapping) else table


def _attributes(one: object, kind: type[Any]) -> Iterable[str]:
    slots = _SLOTS.get(kind)
    if slots is None:
        slots = _SLOTS[kind] = _slots(kind)
    return slots or vars(one)


_SLOTS: Final[dict[type[Any], tuple[str, ...]]] = {}


def _slots(kind: type[Any]) -> tuple[str, ...]:
    """Return the slots of a class, or the fields of a Struct; nothing for another class."""
    fields: tuple[str, ...] = getattr(kind, "__struct_fields__", ())
    return fields or tuple(
        name for base in kind.__mro__ for name in vars(base).get("__slots__", ())
    )


def _is_own(kind: type[Any]) -> bool:
    """Return whether the walk looks into the objects of a class."""
    is_own = _OWN.get(kind)
    if is_own is None:
        module = kind.__module__
        is_own = module.startswith(PACKAGES) and module not in VALUES and kind is not Log
        _OWN[kind] = is_own
    return is_own


_OWN: Final[dict[type[Any], bool]] = {}
