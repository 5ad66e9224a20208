"""The definition of one configuration: its type, its default and the values that it may have.

The table of all of them is generated from Kafka's jars (generated/topics.py). Not: reading a
value (values.py).
"""

from enum import IntEnum

from msgspec import Struct


class ConfigType(IntEnum):
    """A configuration's type, by its number in a DescribeConfigs answer."""

    BOOLEAN = 1
    STRING = 2
    INT = 3
    SHORT = 4
    LONG = 5
    DOUBLE = 6
    LIST = 7


class Definition(Struct, frozen=True, kw_only=True):
    """One configuration of a topic."""

    name: str
    type: ConfigType
    default: str | None = None
    minimum: float | None = None
    maximum: float | None = None
    also: int | None = None
    """A number outside the range that is allowed, too."""
    choices: tuple[str, ...] = ()
    """The only values, or the only members of a list; empty: any."""
    is_replica_list: bool = False
    """Members are `partition:broker`, or the list is `*`."""
    is_internal: bool = False
    """Not shown where it was not set."""
    synonyms: tuple[str, ...] = ()
    """The broker's names for the default, the strongest first."""
