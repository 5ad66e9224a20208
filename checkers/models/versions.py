"""Finds likely versions of indeterminate sets, for the order hints of versioned registers.

Each version is made by one set, so the answered sets have their places. A version without an
answered set was made by an indeterminate set that was invoked before its *deadline*: the first
completion of a call that returned or made this or a later version. Deadlines never fall from one
version to the next. So a version goes to an indeterminate set-if that expected its predecessor;
else to the latest set of the value that a get returned at this version, which leaves earlier sets
to other versions. The other versions go to the remaining sets, earliest first (as in
`checkers.engines.register.versioned_cas`). Only hints: nothing is checked.
"""

from bisect import bisect_left
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from kraftproof.checkers.calls.versioned import UNTOLD, VersionedCall
from kraftproof.checkers.history.columns import NEVER
from kraftproof.checkers.models.reducible import Events, OrderHint


def order_of_versions(
    calls: Sequence[Hashable], events: Sequence[Events]
) -> list[OrderHint | None] | None:
    """Return the positions of a register's sets; None for more versions than sets.

    Args:
        calls: the calls, by invocation; gets were answered.
        events: those of each.
    """
    observed = _Observed(begins=[begin for begin, _ in events])
    for number, (call, (_, end)) in enumerate(zip(calls, events, strict=True)):
        if isinstance(call, VersionedCall):
            observed.add(number, call, end)
    last = max(observed.ends, default=0)
    if last > len(calls):
        return None
    makers = observed.makers | observed.lost_makers(last)
    hints: list[OrderHint | None] = [None] * len(calls)
    for version, number in makers.items():
        hints[number] = OrderHint("versions", version)
    return hints


@dataclass(slots=True, kw_only=True)
class _Observed:
    """The versions that calls show, and the indeterminate sets.

    Attributes:
        begins: when each call was invoked.
        makers: the answered set that made each version.
        seen: the value that an answered get saw at each version.
        ends: for each version, the first completion of an answered call with the version.
        lost: indeterminate set-ifs, by the only version that each can have made.
        free: the others, by value.
    """

    begins: Sequence[int]
    makers: dict[int, int] = field(default_factory=dict)
    seen: dict[int, str] = field(default_factory=dict)
    ends: dict[int, int] = field(default_factory=dict)
    lost: dict[int, list[tuple[int, str]]] = field(default_factory=dict)
    free: dict[str, list[int]] = field(default_factory=dict)

    def add(self, number: int, call: VersionedCall, end: int | None) -> None:
        version = call.about
        if end is None and version == UNTOLD:
            self.free.setdefault(call.value, []).append(number)
        elif end is None:
            self.lost.setdefault(version, []).append((number, call.value))
        elif version != UNTOLD:
            self.ends[version] = min(end, self.ends.get(version, end))
            if call.is_get:
                self.seen[version] = call.value
            else:
                self.makers[version] = number

    def lost_makers(self, last: int) -> dict[int, int]:
        """Return likely indeterminate sets for the versions up to the last version in an answer."""
        found: dict[int, int] = {}
        unseen = []
        for version, deadline in self._gaps(last):
            number = self._bound(version, deadline)
            if number is None and version in self.seen:
                number = self._latest(self.seen[version], deadline)
            if number is None:
                unseen.append(version)
            else:
                found[version] = number
        left = sorted(number for numbers in self.free.values() for number in numbers)
        return found | dict(zip(unseen, left, strict=False))

    def _gaps(self, last: int) -> list[tuple[int, int]]:
        """Return the versions that no answered set made, each with its deadline, in order."""
        gaps, deadline = [], NEVER
        for version in range(last, 0, -1):
            deadline = min(deadline, self.ends.get(version, NEVER))
            if version not in self.makers:
                gaps.append((version, deadline))
        return gaps[::-1]

    def _bound(self, version: int, deadline: int) -> int | None:
        """Return an indeterminate set-if that can have made only this version."""
        for number, value in self.lost.get(version, ()):
            if self.begins[number] < deadline and self.seen.get(version, value) == value:
                return number
        return None

    def _latest(self, value: str, deadline: int) -> int | None:
        """Take the latest indeterminate set of a value that was invoked before its deadline."""
        numbers = self.free.get(value, [])
        place = bisect_left(numbers, deadline, key=self.begins.__getitem__)
        return numbers.pop(place - 1) if place else None
