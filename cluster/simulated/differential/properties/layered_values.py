"""Write the values of listeners: a key with the prefix of a listener overrides the key without."""

from collections.abc import Mapping
from random import Random

Values = Mapping[str, str]
"""The values of a listener by their keys."""


def own_key(listener: str, key: str) -> str:
    """Return the key of a listener's own value; the name of the listener is in lower case."""
    return f"listener.name.{listener.lower()}.{key}"


def layered(random: Random, wishes: Mapping[str, Values]) -> dict[str, str]:
    """Return pairs that give each listener its values.

    A key without a prefix is for all listeners, so that it needs a value for each.
    """
    pairs: dict[str, str] = {}
    for key in sorted({key for values in wishes.values() for key in values}):
        given = {name: values[key] for name, values in wishes.items() if key in values}
        common = None
        if len(given) == len(wishes) and random.random() < 0.6:
            common = pairs[key] = random.choice([*given.values()])
        for name, value in given.items():
            if value != common or random.random() < 0.2:
                pairs[own_key(name, key)] = value
    return pairs
