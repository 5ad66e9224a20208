"""Draw instances of the generated classes field by field, whatever the fields mean."""

import types
import typing
from collections.abc import Callable
from functools import cache
from random import Random
from typing import Any, Final

import msgspec

Drawer = Callable[[Random], Any]
SMALL: Final = (0, 0, 1, 1, 2, 5, 100)
LARGE: Final = (-1, -2, 127, 128, 32_767, (1 << 31) - 1, -(1 << 31), (1 << 63) - 1, -(1 << 63))
LARGE_SHARE: Final = 0.1
KEPT_SHARE: Final = 0.1
"""Share of fields that keep their default."""
TAG_SHARE: Final = 0.1
FIRST_FREE_TAG: Final = 100


def draw_entity(kind: type, random: Random) -> Any:  # noqa: ANN401 - a class of many
    """Return an instance; some numbers do not fit into the field's type."""
    return _drawer(kind)(random)


@cache
def _drawer(kind: type) -> Drawer:
    hints = typing.get_type_hints(kind)
    fields = [
        (field.name, _tags if field.name == "unknown_tags" else _of_type(hints[field.name]))
        for field in msgspec.structs.fields(kind)
    ]

    def draw(random: Random) -> object:
        return kind(**{name: one(random) for name, one in fields if random.random() >= KEPT_SHARE})

    return draw


def _of_type(hint: object) -> Drawer:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in {types.UnionType, typing.Union}:
        # a records field has decoded batches or bytes; any bytes go through
        whole = _PLAIN[bytes] if bytes in arguments else _of_type(arguments[0])
        is_nullable = type(None) in arguments
        return lambda random: None if is_nullable and random.random() < 0.2 else whole(random)
    if origin is tuple:
        one = _of_type(arguments[0])
        return lambda random: tuple(one(random) for _ in range(random.choice((0, 1, 1, 2))))
    if getattr(hint, "__supertype__", None) is bytes:
        return lambda random: random.choice((bytes(16), random.randbytes(16)))
    return _PLAIN.get(hint) or _drawer(typing.cast("type", hint))


def _number(random: Random) -> int:
    return random.choice(LARGE if random.random() < LARGE_SHARE else SMALL)


def _tags(random: Random) -> tuple[tuple[int, bytes], ...]:
    if random.random() >= TAG_SHARE:
        return ()
    count = random.choice((1, 2))
    return tuple((FIRST_FREE_TAG + number, random.randbytes(number)) for number in range(count))


_PLAIN: Final[dict[Any, Drawer]] = {
    bool: lambda random: random.random() < 0.5,
    int: _number,
    float: lambda random: random.choice((0.0, 1.5, -2.25)),
    str: lambda random: random.choice(("", "a", "topic-\u00e9", "x" * 130)),
    bytes: lambda random: random.randbytes(random.choice((0, 1, 16, 130))),
}
