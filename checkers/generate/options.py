"""The options of a generated history, as values; a wrong option is refused in one line."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from kraftproof.checkers.verdict import CheckerInputError

MOST_OPERATIONS: Final = 10**10
MOST_KEYS: Final = 10**7
MOST_CLIENTS: Final = 10**6
MOST_VALUES: Final = 2**62
"""Limits of the arrays of a chunk and of their numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerateOptions:
    """A history to generate; the same options give the same bytes.

    Attributes:
        model: the name of the model that the history is of (`checkers.generate.subjects.subject`).
        operations: the number of operations, over all keys.
        keys: how many keys; each has its own object and its own clients.
        concurrency: clients a key. A client has one operation open, but for short pauses.
        values: how many distinct values there are; None where each is used once a key.
        mix: weights of the functions by name; a function that is not named has weight 0. None for
            the model's usual mix.
        indeterminate: the share of operations whose client never hears of the outcome.
        failed: the share of operations that fail without an effect.
        corrupt: the kind of the wrong answer, None for a valid history.
        hot_key: the share of all operations that go to the first key.
        seed: of all chance.
    """

    model: str = "cas-register"
    operations: int = 1000
    keys: int = 1
    concurrency: int = 5
    values: int | None = 5
    mix: Mapping[str, float] | None = field(default=None)
    indeterminate: float = 0.0
    failed: float = 0.0
    corrupt: str | None = None
    hot_key: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse an impossible value, and name the option of the command.

        Raises:
            CheckerInputError: an option's value can't be; one line.
        """
        _within("--operations", self.operations, 0, MOST_OPERATIONS)
        _within("--keys", self.keys, 1, MOST_KEYS)
        _within("--concurrency", self.concurrency, 1, MOST_CLIENTS)
        _within("--values", 1 if self.values is None else self.values, 1, MOST_VALUES)
        _at_least("--seed", self.seed, 0)
        _share("--indeterminate", self.indeterminate)
        _share("--failed", self.failed)
        _share("--hot-key", self.hot_key)
        if self.hot_key and self.keys == 1:
            raise CheckerInputError(f"--hot-key {self.hot_key:g}: more than one key is expected")
        if self.indeterminate + self.failed > 1:
            raise CheckerInputError(
                f"--indeterminate {self.indeterminate:g} and --failed {self.failed:g}:"
                " together at most 1 is expected"
            )


def _at_least(name: str, value: int, least: int) -> None:
    if value < least:
        raise CheckerInputError(f"{name} {value}: {least} or more is expected")


def _within(name: str, value: int, least: int, most: int) -> None:
    _at_least(name, value, least)
    if value > most:
        raise CheckerInputError(f"{name} {value}: {most} or less is expected")


def _share(name: str, value: float) -> None:
    if not 0 <= value <= 1:
        raise CheckerInputError(f"{name} {value:g}: a share from 0 to 1 is expected")
