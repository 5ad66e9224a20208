"""The open calls on a broker id at a moment of a sweep, and the answers possible in each state.

A state of the controller has the largest epoch told, the certainty of the registration, and the
registered incarnation. The four kinds are those of `checkers.models.registration`: nobody is
registered (VACANT); an incarnation is, under an epoch that no answer told (UNTOLD); the incarnation
with the largest epoch told is (HELD), or is and may have been given a later epoch since (RENEWED).
"""

from collections import defaultdict
from typing import Final, NamedTuple

from kraftproof.checkers.calls.registration import ABSENT, ALIVE, DUPLICATE, ENDED, GRANTED, STALE

VACANT: Final = 0
UNTOLD: Final = 1
HELD: Final = 2
RENEWED: Final = 3

ANYBODY: Final = -1
"""Stands for the incarnations that no later call is about, and for nobody."""


class State(NamedTuple):
    """The state of the controller: the largest epoch told, its kind, and the incarnation."""

    largest: int
    kind: int
    holder: int


class OpenCalls:
    """The required open calls, a bit each.

    Attributes:
        bits: The bit of each.
        updates: The calls that may change the state, by number: grants and unregistrations.
        observed: The calls that tell an epoch and have to return: grants and accepted heartbeats.
    """

    def __init__(self, action: list[int], incarnation: list[int], epoch: list[int]) -> None:
        """Take what the calls of a key say (`checkers.calls.registration`)."""
        self._action, self._incarnation, self._epoch = action, incarnation, epoch
        self._free: list[int] = []
        self._made = 0
        self._of: dict[int, int] = dict.fromkeys((DUPLICATE, STALE, ABSENT), 0)
        self._about: defaultdict[tuple[int, int], int] = defaultdict(int)
        self._alive: dict[int, int] = {}
        self._answered_in: dict[State, int] = {}
        self.bits: dict[int, int] = {}
        self._doomed_before: dict[int, int] = {}
        self.updates: dict[int, int] = {}
        self.observed: dict[int, int] = {}

    def open(self, number: int, *, is_returning: bool) -> None:
        """Give a call a bit; it has to return, or may as well stay open to the end."""
        bit = self._free.pop() if self._free else 1 << self._made
        self._made += bit == 1 << self._made
        self.bits[number] = bit
        if self._action[number] in {GRANTED, ENDED}:
            self.updates[number] = bit
        if is_returning and self._action[number] in {GRANTED, ALIVE}:
            self.observed[number] = bit
        self._toggle(number, bit)

    def close(self, number: int) -> None:
        """Take the bit back."""
        bit = self.bits.pop(number)
        self.updates.pop(number, None)
        self.observed.pop(number, None)
        self._toggle(number, bit)
        self._free.append(bit)

    def _toggle(self, number: int, bit: int) -> None:
        action, epoch = self._action[number], self._epoch[number]
        self._answered_in.clear()
        self._doomed_before.clear()
        if action in self._of:
            self._of[action] ^= bit
        if action == ALIVE:
            self._alive[epoch] = self._alive.get(epoch, 0) ^ bit
            if not self._alive[epoch]:
                del self._alive[epoch]
        about = self._incarnation[number] if action == DUPLICATE else epoch
        self._about[action, about] ^= bit
        if not self._about[action, about]:
            del self._about[action, about]

    def answered(self, state: State) -> int:
        """Return the bits of the calls that are legal in a state without changing it."""
        found = self._answered_in.get(state)
        if found is None:
            found = self._answered_in[state] = self._find(state)
        return found

    def _find(self, state: State) -> int:
        if state.kind == VACANT:
            return self._of[ABSENT] | self._of[STALE]
        largest, kind, holder = state
        found = self._of[DUPLICATE] & ~self._about.get((DUPLICATE, holder), 0)
        stale = self._of[STALE]
        if kind == HELD:
            stale &= ~self._about.get((STALE, largest), 0)
            found |= self.granted_again(state)
        if kind != UNTOLD:
            found |= self._alive.get(largest, 0)
        if kind != HELD:
            for epoch, bits in self._alive.items():
                found |= bits if epoch > largest else 0
        return found | stale

    def doomed(self, state: State) -> int:
        """Return the bits of the calls that have to return and are legal in no state from here.

        Epochs that are told only grow, and one that is not held any more is never held again.
        """
        least = state.largest + (state.kind < HELD)
        found = self._doomed_before.get(least)
        if found is None:
            found = sum(bit for number, bit in self.observed.items() if self._epoch[number] < least)
            self._doomed_before[least] = found
        return found

    def granted_again(self, state: State) -> int:
        """Return the bits of the grants that tell a holder the epoch that it was told before."""
        if state.kind < HELD:
            return 0
        found = self._about.get((GRANTED, state.largest), 0)
        for number, bit in self.updates.items() if found else ():
            if found & bit and self._incarnation[number] != state.holder:
                found ^= bit
        return found
