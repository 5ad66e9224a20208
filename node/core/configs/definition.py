"""Define a configuration: type, default and legal values.

The table of definitions is generated from Kafka's jars (generated/topics.py). See values.py for the
parsing of a value.
"""

from enum import IntEnum

from msgspec import Struct


class ConfigType(IntEnum):
    """The type of a configuration, with its number in a DescribeConfigs answer."""

    BOOLEAN = 1
    STRING = 2
    INT = 3
    SHORT = 4
    LONG = 5
    DOUBLE = 6
    LIST = 7
    CLASS = 8
    PASSWORD = 9


class Definition(Struct, frozen=True, kw_only=True):
    """A configuration of a resource."""

    name: str
    type: ConfigType
    default: str | None = None
    minimum: float | None = None
    maximum: float | None = None
    also: int | None = None
    """A legal number outside the range."""
    choices: tuple[str, ...] = ()
    """The only legal values, or the legal members of a list; empty for any value."""
    is_replica_list: bool = False
    """Members are `partition:broker`, or the list is `*`."""
    is_internal: bool = False
    """Hidden from answers while unset."""
    synonyms: tuple[str, ...] = ()
    """The broker's names for the default, in order of precedence."""
    converted: tuple[tuple[str, int], ...] = ()
    """The broker's names for the default in a larger unit, and the number of units in one."""
    is_per_broker: bool = False
    """A value may be set for each broker alone, and not for all brokers together."""
