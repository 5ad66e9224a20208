"""Read and write the faults of a schedule as lines of text that people can edit.

    0.531 2.2 kill target=@active-controller
    1.75 2.9 partition shape=laggard around=@standby-controller/1 direction=out

A line has the start and the end in seconds of the workload, the kind, and each field that differs
from its default. A role is `@name` or `@name/choice`, a link is `1>2`, commas join several values,
the empty list is `()`, None is `none`, and a nested value is `{part=1;other=2}`. Faults of plug-ins
have lines as well. kraftproof/search/schedule_file.py handles the other lines of the file.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import Enum
from functools import cache
from json import dumps, loads
from types import NoneType, UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from kraftproof.cluster.protocol import Link
from kraftproof.nemesis.catalogue import nemesis_names, planner
from kraftproof.nemesis.fault import Fault, Role
from kraftproof.nemesis.schedule import SECOND_NS, Scheduled
from kraftproof.spelling import nearest

WORD = re.compile(r"[A-Za-z_][\w.+/-]*")
NOT_WORDS = frozenset({"none", "true", "false"})
SECONDS = re.compile(r"(\d+)(?:\.(\d{1,9}))?")
NANOSECOND_DIGITS = 9


class ScheduleFileError(ValueError):
    """The line describes no fault; the message is one line, without the line number."""


def seconds_text(time_ns: int) -> str:
    """Return nanoseconds as seconds, exact and without trailing zeros."""
    whole, rest = divmod(time_ns, SECOND_NS)
    return f"{whole}.{rest:09d}".rstrip("0").rstrip(".")


def parse_seconds(text: str) -> int:
    """Return the nanoseconds of a text with seconds and up to nine decimals.

    Raises:
        ScheduleFileError: the text is no such number.
    """
    found = SECONDS.fullmatch(text)
    if found is None:
        raise ScheduleFileError(f"{text!r} is no time in seconds, such as 1.25")
    whole, rest = found.group(1), found.group(2) or ""
    return int(whole) * SECOND_NS + int(rest.ljust(NANOSECOND_DIGITS, "0"))


def fault_line(scheduled: Scheduled) -> str:
    """Return the line of a fault with its times.

    Raises:
        ScheduleFileError: a field of the fault has a value without a text.
    """
    times = f"{seconds_text(scheduled.at_ns)} {seconds_text(scheduled.until_ns)}"
    return " ".join((times, scheduled.fault.kind, *_field_texts(scheduled.fault)))


def _field_texts(value: Any) -> list[str]:  # noqa: ANN401 - any dataclass
    return [
        f"{field.name}={_text(getattr(value, field.name))}"
        for field in fields(value)
        if field.default is MISSING or getattr(value, field.name) != field.default
    ]


def parse_fault_line(line: str, name: str) -> Scheduled:
    """Return the fault of a line under the given name, which must be unique in the schedule.

    Raises:
        ScheduleFileError: the line describes no fault; the message names the wrong part and the
            expected form.
    """
    words = line.split()
    if len(words) < 3:
        raise ScheduleFileError(f"{line!r}: a start, an end and a kind of fault are expected")
    at_ns, until_ns = parse_seconds(words[0]), parse_seconds(words[1])
    if until_ns <= at_ns:
        raise ScheduleFileError(f"{line!r}: it ends at {words[1]} s, not after it begins")
    kind = words[2]
    try:
        fault: Fault = _make(_fault_type(kind), words[3:])
    except ValueError as error:
        raise ScheduleFileError(f"{kind}: {error}") from error
    return Scheduled(name=name, kind=kind, at_ns=at_ns, until_ns=until_ns, fault=fault)


@cache
def _fault_type(kind: str) -> type[Any]:
    """Return the fault class of a kind: the annotated result of the planner.

    Raises:
        ValueError: no planner is annotated with a class of this kind.
    """
    if kind not in nemesis_names():
        known = nemesis_names()
        raise ValueError(
            f"unknown fault{nearest(kind, known)}: one of {', '.join(known)} is expected"
        )
    drawn = get_type_hints(_function(planner(kind))).get("return", Fault)
    for candidate in get_args(drawn) or (drawn,):
        if getattr(candidate, "kind", None) == kind:
            found: type[Any] = candidate
            return found
    raise ValueError("its planner does not say which class of fault it returns")


def _function(drawing: object) -> object:
    """Return the planner if the planner is a function, otherwise its class's `__call__`."""
    return drawing if hasattr(drawing, "__code__") else type(drawing).__call__


def _make(made: Any, words: list[str]) -> Any:  # noqa: ANN401 - any dataclass, and its class
    known = {field.name: field for field in fields(made)}
    hints = _hints(made)
    values: dict[str, object] = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals or name not in known:
            raise ValueError(
                f"{word!r} is none of its fields{nearest(name, known)}: {', '.join(known)}"
            )
        if name in values:
            raise ValueError(f"{name} is there twice")
        try:
            values[name] = _value(text, hints[name])
        except ValueError as error:
            raise ValueError(f"{name}={text}: {error}") from error
    missing = [name for name, field in known.items() if _is_needed(field) and name not in values]
    if missing:
        raise ValueError(f"{', '.join(missing)} is missing")
    return made(**values)


@cache
def _hints(made: type[Any]) -> Mapping[str, Any]:
    return get_type_hints(made)


def _is_needed(field: "Field[Any]") -> bool:
    return field.default is MISSING and field.default_factory is MISSING


def _text(value: object) -> str:
    """Return the text of a value; `_value` is the inverse."""
    if value is None:
        return "none"
    if isinstance(value, Role):
        return f"@{value.name}/{value.choice}" if value.choice else f"@{value.name}"
    if isinstance(value, Link):
        return f"{value.source}>{value.target}"
    if isinstance(value, tuple):
        return ",".join(map(_text, value)) or "()"
    if isinstance(value, Enum):
        return _text(value.value)
    if isinstance(value, str):
        is_plain = WORD.fullmatch(value) is not None and value not in NOT_WORDS
        return value if is_plain else dumps(value).replace(" ", "\\u0020").replace(",", "\\u002c")
    if is_dataclass(value):
        return f"{{{';'.join(_field_texts(value))}}}"
    if not isinstance(value, bool | int | float):
        raise ScheduleFileError(f"a schedule has no text for {value!r}")
    return dumps(value)


def _value(text: str, hint: Any) -> object:  # noqa: ANN401 - a type hint is any object
    """Parse the text of a value of a type."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in {Union, UnionType}:
        return _one_of(text, arguments)
    if origin is Literal:
        if text not in arguments:
            raise ValueError(f"one of {', '.join(arguments)} is expected{nearest(text, arguments)}")
        return text
    if origin is tuple:
        return _several(text, arguments)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return hint(text)
    if hint not in _READERS and is_dataclass(hint):
        if not (text.startswith("{") and text.endswith("}")):
            raise ValueError("parts within { and } are expected")
        return _make(hint, [part for part in text[1:-1].split(";") if part])
    read = _READERS.get(hint)
    assert read is not None, f"a schedule has no text for {hint}"
    return read(text)


def _one_of(text: str, hints: tuple[Any, ...]) -> object:
    errors = []
    for hint in sorted(hints, key=lambda hint: hint is str):
        try:
            return _value(text, hint)
        except ValueError as error:
            errors.append(str(error))
    raise ValueError("; or ".join(errors))


def _several(text: str, hints: tuple[Any, ...]) -> tuple[object, ...]:
    parts = [] if text == "()" else text.split(",")
    each = [hints[0]] * len(parts) if hints[1:] == (Ellipsis,) else list(hints)
    if len(each) != len(parts):
        raise ValueError(f"{len(each)} values are expected")
    return tuple(_value(part, hint) for part, hint in zip(parts, each, strict=True))


def _none(text: str) -> None:
    if text != "none":
        raise ValueError("none is expected")


def _boolean(text: str) -> bool:
    if text not in {"true", "false"}:
        raise ValueError("true or false is expected")
    return text == "true"


def _whole_number(text: str) -> int:
    if re.fullmatch(r"-?\d+", text) is None:
        raise ValueError("a whole number is expected")
    return int(text)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError("a number is expected") from None


def _string(text: str) -> str:
    if not text.startswith('"'):
        if WORD.fullmatch(text) is None or text in NOT_WORDS:
            raise ValueError("a word is expected")
        return text
    try:
        return str(loads(text))
    except ValueError:
        raise ValueError("its quotation marks don't match") from None


def _link(text: str) -> Link:
    found = re.fullmatch(r"(\d+)>(\d+)", text)
    if found is None:
        raise ValueError("a link such as 1>2 is expected")
    return Link(int(found.group(1)), int(found.group(2)))


def _role(text: str) -> Role:
    found = re.fullmatch(r"@([a-z-]+)(?:/(\d+))?", text)
    if found is None:
        raise ValueError("a role such as @active-controller is expected")
    return Role(name=found.group(1), choice=int(found.group(2) or 0))


_READERS: Final[Mapping[Any, Callable[[str], object]]] = {
    NoneType: _none,
    bool: _boolean,
    int: _whole_number,
    float: _number,
    str: _string,
    Link: _link,
    Role: _role,
}
