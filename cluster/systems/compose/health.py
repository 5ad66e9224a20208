"""Health check of a service of a Compose file, as the Docker SDK takes it."""

from typing import Any, Final

from kraftproof.cluster.systems.compose.errors import Place
from kraftproof.cluster.systems.compose.values import (
    duration_ns,
    mapping,
    number,
    text,
    texts,
    truth,
)

SHORTEST_NS: Final = 1_000_000
"""The shortest duration that Docker takes; 0 means Docker's own."""
_FORMS: Final = ("NONE", "CMD", "CMD-SHELL")


def health_check(value: object, place: Place) -> dict[str, Any]:
    """Return a health check with its durations in nanoseconds.

    Raises:
        ComposeFileError: a setting has a mistake or is not supported; one line.
    """
    found: dict[str, Any] = {}
    for key, one in mapping(value, place).items():
        here = place.at(key)
        match key:
            case "disable":
                if truth(one, here):
                    return {"test": ["NONE"]}
            case "test":
                found["test"] = _test(one, here)
            case "interval" | "timeout" | "start_period":
                found[key] = duration_ns(one, here)
                if 0 < found[key] < SHORTEST_NS:
                    raise here.error(f"{one!r}: at least 1ms is expected")
            case "retries":
                found[key] = number(one, here)
                if found[key] < 0:
                    raise here.error(f"{one!r}: at least 0 is expected")
            case _:
                raise here.error("is not supported")
    return found


def _test(value: object, place: Place) -> list[str]:
    if not isinstance(value, list):
        return ["CMD-SHELL", text(value, place)]
    words = list(texts(value, place))
    if not words or words[0] not in _FORMS:
        first = repr(words[0]) if words else "nothing"
        raise place.error(
            f"a list begins with {', '.join(_FORMS[:-1])} or {_FORMS[-1]}, not with {first}"
        )
    if words[0] != "NONE" and len(words) == 1:
        raise place.error(f"{words[0]} is followed by a command")
    return words
