"""Marks parameters of a test as long: `make test` keeps one or a few of each kind."""

from collections.abc import Collection, Iterable

import pytest
from _pytest.mark import ParameterSet


def long(*values: object) -> ParameterSet:
    """Return a parameter that `make test` leaves to `make test-long`."""
    return pytest.param(*values, marks=pytest.mark.long)


def mostly_long(cases: Iterable[tuple[str, object]], quick: Collection[str]) -> list[ParameterSet]:
    """Return parameters from pairs of a name and a value, those outside `quick` marked long."""
    given = list(cases)
    unknown = set(quick) - {name for name, _ in given}
    assert not unknown, f"no such cases: {sorted(unknown)}"
    return [
        pytest.param(
            *(value if isinstance(value, tuple) else (value,)),
            id=name,
            marks=() if name in quick else pytest.mark.long,
        )
        for name, value in given
    ]
