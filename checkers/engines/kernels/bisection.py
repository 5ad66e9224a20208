"""Find the first completion that no legal order reaches, given an engine that decides prefixes.

The prefix of a history up to an event has the calls invoked before it. Calls completed by then are
required; an open call may have taken effect, with the answer that it got later, or not. All
prefixes of a linearizable history are linearizable. An engine that decides prefixes therefore finds
the first illegal completion by bisection, in log2(n) decisions. Nothing here depends on the meaning
of a call.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from kraftproof.checkers.calls import Calls
from kraftproof.checkers.engines.types import Outcome
from kraftproof.checkers.history.columns import NEVER
from kraftproof.checkers.verdict import Verdict

Legal = Callable[[int, int, int], bool]
"""(start, end, cut) -> whether calls start to end are linearizable up to the event `cut`."""


def find_first_illegal(calls: Calls, start: int, end: int, is_legal: Legal) -> int | None:
    """Return the first completion that no legal order reaches, as a call; None if all are."""
    if is_legal(start, end, NEVER):
        return None
    complete = calls.complete[start:end]
    returned = complete[complete != NEVER]
    event = first_illegal_completion(returned, lambda cut: is_legal(start, end, cut))
    return start + int(np.flatnonzero(complete == event)[0])


def first_illegal_completion(
    completions: NDArray[np.int64], is_legal: Callable[[int], bool]
) -> int:
    """Return the first completion up to which the prefix is illegal, by bisection.

    Args:
        completions: The completions that may be it; up to the last, the prefix is illegal.
        is_legal: Returns whether the prefix up to an event is legal.
    """
    events = np.sort(completions)
    low, high = 0, len(events) - 1
    while low < high:
        middle = (low + high) // 2
        if is_legal(int(events[middle])):
            low = middle + 1
        else:
            high = middle
    return int(events[low])


@dataclass(slots=True)
class Guided:
    """Finds the first illegal completion of a key where a decision gives an idea of it.

    Attributes:
        complete: int64[n], the completions of the key's calls, NEVER for those without.
        decide: return whether the prefix up to an event is legal, and if it is not, which earlier
            prefix perhaps is not either.
        legal: the longest prefix that is known to be legal, by its last event.
        illegal: the shortest that is known not to be.
        guess: where the latter's first illegal completion may be, if there is an idea.
    """

    complete: NDArray[np.int64]
    decide: Callable[[int], tuple[bool, int]]
    legal: int = -1
    illegal: int = NEVER
    guess: int = NEVER

    def find_first_illegal(self) -> int | None:
        """Return the call whose completion no legal order reaches first; None if all are.

        Where a guess leads is decided first, and the prefix before it; if that is not it, bisection
        goes on from there.
        """
        if self._is_legal(NEVER - 1):
            return None
        while self.guess < self.illegal and not self._is_legal(self.guess):
            pass
        self._is_legal(int(self.complete[self.complete < self.illegal].max(initial=-1)))
        left = self.complete[(self.complete > self.legal) & (self.complete != NEVER)]
        first = first_illegal_completion(left, self._is_legal)
        return int(np.flatnonzero(self.complete == first)[0])

    def _is_legal(self, cut: int) -> bool:
        if self.legal < cut < self.illegal:
            is_legal, self.guess = self.decide(cut)
            if is_legal:
                self.legal = cut
            else:
                self.illegal = cut
        return cut <= self.legal


def outcome_of(
    calls: Calls,
    start: int,
    end: int,
    first_illegal: int | None,
    engine: str,
    anomaly: str | None = None,
) -> Outcome:
    """Return the outcome of a key of which some call is stuck, or none."""
    if first_illegal is None:
        return Outcome(verdict=Verdict.VALID, engine=engine)
    return Outcome(
        verdict=Verdict.INVALID,
        engine=engine,
        first_illegal_row=int(calls.rows[first_illegal]),
        linearizable=int(
            np.count_nonzero(calls.complete[start:end] < calls.complete[first_illegal])
        ),
        anomaly=anomaly,
    )


def decide_keys(calls: Calls, engine: str, is_legal: Legal) -> list[Outcome]:
    """Return the outcome of every key, by an engine that decides all prefixes."""
    return [
        outcome_of(calls, start, end, find_first_illegal(calls, start, end, is_legal), engine)
        for start, end in spans(calls)
    ]


def decide_between(
    calls: Calls, start: int, end: int, engine: str, strict: Legal, lenient: Legal
) -> Outcome | None:
    """Return the outcome of a key of which only bounds can be decided, None if they differ.

    Args:
        calls: all calls.
        start: the key's first call.
        end: the next key's first call.
        engine: the engine's name.
        strict: never legal where it should not be, perhaps illegal where it should be legal.
        lenient: the other way round.
    """
    first_illegal = find_first_illegal(calls, start, end, strict)
    if first_illegal is not None and first_illegal != find_first_illegal(
        calls, start, end, lenient
    ):
        return None
    return outcome_of(calls, start, end, first_illegal, engine)


def spans(calls: Calls) -> Sequence[tuple[int, int]]:
    """Return where the calls of each key begin and end."""
    starts = calls.starts.tolist()
    return list(pairwise(starts))
