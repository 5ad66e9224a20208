"""Parse and check values of configurations (KIP-133).

Values have the syntax of Java and Kafka: surrounding blanks are ignored, `TRUE` is true, and commas
separate the members of a list.
"""

import re
from collections.abc import Mapping
from typing import Final

from kraftproof.node.core.configs.definition import ConfigType, Definition
from kraftproof.node.core.configs.generated.topics import TOPIC_DEFINITIONS

Value = bool | str | int | float | tuple[str, ...]

DEFINITIONS: Final[Mapping[str, Definition]] = {entry.name: entry for entry in TOPIC_DEFINITIONS}
LONGEST_VALUE: Final = 32_767
"""Maximum number of characters, as in Kafka."""
_BITS: Final = {ConfigType.SHORT: 16, ConfigType.INT: 32, ConfigType.LONG: 64}
_INTEGER: Final = re.compile(r"[+-]?\d+")
_DECIMAL: Final = re.compile(
    r"([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|[+-]?Infinity|NaN)[fFdD]?"
)
_COMMA: Final = re.compile(r"\s*,\s*")
_REPLICA: Final = re.compile(r"([0-9]+:[0-9]+)?")
_SHORTEST_COMPACTION: Final = "min.compaction.lag.ms"
_LONGEST_COMPACTION: Final = "max.compaction.lag.ms"
_REMOTE_STORAGE: Final = "remote.storage.enable"


class InvalidConfigError(ValueError):
    """An illegal configuration; the text is one line for the client."""


def check_topic_configs(configs: Mapping[str, str]) -> None:
    """Refuse illegal configurations of a topic, alone and in combination.

    Raises:
        InvalidConfigError: a name is unknown, or a value is illegal.
    """
    read = {name: read_value(name, text) for name, text in configs.items()}
    _check_lags(read)
    if read.get(_REMOTE_STORAGE):
        raise InvalidConfigError(f"{_REMOTE_STORAGE} is true, but brokers have no remote storage")


def _check_lags(read: Mapping[str, Value]) -> None:
    if _SHORTEST_COMPACTION not in read and _LONGEST_COMPACTION not in read:
        return
    lags = [
        read.get(name) or read_value(name, DEFINITIONS[name].default or "")
        for name in (_SHORTEST_COMPACTION, _LONGEST_COMPACTION)
    ]
    if isinstance(lags[0], int) and isinstance(lags[1], int) and lags[0] > lags[1]:
        raise InvalidConfigError(
            f"{_SHORTEST_COMPACTION} is {lags[0]}, more than {_LONGEST_COMPACTION}, {lags[1]}"
        )


def read_value(name: str, text: str) -> Value:
    """Return the value of the text of a topic's configuration.

    Raises:
        InvalidConfigError: the configuration is unknown, or the value is illegal.
    """
    definition = DEFINITIONS.get(name)
    if definition is None:
        raise InvalidConfigError(f"{name[:200]!r} is no topic configuration")
    return parse_value(definition, text)


def parse_value(definition: Definition, text: str) -> Value:
    """Return the value of a configuration's text.

    Raises:
        InvalidConfigError: the value is illegal.
    """
    name = definition.name
    if len(text) > LONGEST_VALUE:
        raise InvalidConfigError(f"{name} has {len(text)} characters, {LONGEST_VALUE} are the most")
    value = _parse(definition, text.strip())
    if value is None or not _is_allowed(definition, value):
        raise InvalidConfigError(f"{name}={text[:200]!r}: {_expected(definition)} is expected")
    return value


def is_legal(definition: Definition, text: str) -> bool:
    """Return whether a text is a value of a configuration."""
    try:
        parse_value(definition, text)
    except InvalidConfigError:
        return False
    return True


def whole_number(text: str) -> int | None:
    """Return the number of a text; None if the text is no number of 64 bits."""
    return _integer(text.strip(), _BITS[ConfigType.LONG])


def _parse(definition: Definition, text: str) -> Value | None:
    match definition.type:
        case ConfigType.BOOLEAN:
            return {"true": True, "false": False}.get(text.lower())
        case ConfigType.STRING | ConfigType.CLASS | ConfigType.PASSWORD:
            return text
        case ConfigType.LIST:
            return tuple(_COMMA.split(text)) if text else ()
        case ConfigType.DOUBLE:
            found = _DECIMAL.fullmatch(text)
            return None if found is None else float(found[1])
        case ConfigType.SHORT | ConfigType.INT | ConfigType.LONG:
            return _integer(text, _BITS[definition.type])


def _integer(text: str, bits: int) -> int | None:
    # A number of 64 bits has at most 20 characters; int() of millions of digits would take long.
    if _INTEGER.fullmatch(text) is None or len(text.lstrip("+-0")) > 20:
        return None
    value = int(text)
    return value if -(1 << (bits - 1)) <= value < 1 << (bits - 1) else None


def _is_allowed(definition: Definition, value: Value) -> bool:
    match value:
        case bool():
            return True
        case str():
            return not definition.choices or value in definition.choices
        case tuple():
            if definition.is_replica_list:
                return value == ("*",) or all(_REPLICA.fullmatch(member) for member in value)
            return not definition.choices or all(member in definition.choices for member in value)
        case int() | float():
            return value == definition.also or not (
                (definition.minimum is not None and value < definition.minimum)
                or (definition.maximum is not None and value > definition.maximum)
            )


def _expected(definition: Definition) -> str:
    """Return a phrase for the legal values of a configuration."""
    if definition.is_replica_list:
        return "* or a list of partition:broker"
    if definition.choices:
        one = "a list of" if definition.type is ConfigType.LIST else "one of"
        return f"{one} {', '.join(definition.choices)}"
    words = f"a value of type {definition.type.name}"
    if definition.minimum is not None:
        words += f" from {definition.minimum}"
    if definition.maximum is not None:
        words += f" to {definition.maximum}"
    return words if definition.also is None else f"{words}, or {definition.also},"
