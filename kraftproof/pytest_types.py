"""Refuse keywords of `kraftproof_run` whose values have a type that the option does not take."""

from collections.abc import Mapping
from types import UnionType
from typing import get_args

from kraftproof.errors import UsageError
from kraftproof.options import RunOptions

_NAMES = {str: "a text", float: "a number", int: "a whole number", type(None): "None"}


def refuse_other_types(fields: Mapping[str, object]) -> None:
    """Refuse a text or a number of another type.

    Raises:
        UsageError: one line that names the keyword and the expected type.
    """
    annotations = {name: one.type for name, one in RunOptions.__dataclass_fields__.items()}
    for name, value in fields.items():
        wanted = _types(str if name == "nemesis" else annotations.get(name))
        if wanted and not _is_one_of(value, wanted):
            expected = " or ".join(_NAMES[one] for one in wanted)
            hint = _HINTS.get(name, "")
            raise UsageError(f"kraftproof_run: {name}={value!r:.80}: {expected} is expected{hint}")


_HINTS = {
    "nemesis": ", such as 'kill,pause'",
    "system": ": a name, or path/to/file.py:Class",
}


def _types(annotation: object) -> tuple[type, ...]:
    """Return the types of an annotation of texts and numbers; nothing for another annotation."""
    parts = get_args(annotation) if isinstance(annotation, UnionType) else (annotation,)
    return parts if all(part in _NAMES for part in parts) else ()


def _is_one_of(value: object, wanted: tuple[type, ...]) -> bool:
    if isinstance(value, bool):
        return False
    return isinstance(value, wanted) or (float in wanted and isinstance(value, int))
