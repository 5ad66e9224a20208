"""The controller's state of one broker id, and the effect of each call on the state.

A call is (what was answered or may have happened, incarnation, epoch). The last three kinds are
reduced calls of histories without indeterminate registrations
(`checkers.models.registration.Registration.without`).
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from kraftproof.checkers.calls.registration import Said

UNASKED: Final = "\0"
"""Stands for every incarnation that no call names; no incarnation has this name."""
NOT_YET: Final = "alive or not yet"
"""An accepted heartbeat: its epoch is held, or is greater than every epoch in an answer."""
OVER: Final = "over or renewed"
"""A refused heartbeat: the registration does not hold its epoch from then on, unless the epoch was
renewed.
"""
RENEWABLE: Final = "registered or renewed"
"""A registration: another epoch may be given to the incarnation at any time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Registered:
    """The controller's state of one broker id.

    Attributes:
        largest: the largest epoch in an answer.
        incarnation: the registered incarnation, None without a registration.
        epoch: the epoch of the registration, None for an epoch that no client received.
        is_sure: whether the epoch cannot have been replaced by an unknown epoch.

    A known epoch is the largest epoch in an answer.
    """

    largest: int = -1
    incarnation: str | None = None
    epoch: int | None = None
    is_sure: bool = True

    def holds(self, epoch: int) -> bool:
        """Return whether a registration holds a known epoch."""
        return self.incarnation is not None and self.epoch == epoch


def after(state: Registered, call: Said) -> Registered | None:
    """Return the state after a call, None if the answer of the call is impossible."""
    if call[2] is not None:
        return _after_epoch(state, call[0], call[1], call[2])
    outcome, incarnation, _ = call
    match outcome:
        case "may be registered":
            return _after_lost_registration(state, incarnation)
        case "duplicate":
            is_other = state.incarnation not in {None, incarnation}
            return state if is_other else None
        case "unregistered" | "may be unregistered":
            return Registered(largest=state.largest)
        case _:
            return state if state.incarnation is None else None


def _after_epoch(
    state: Registered, outcome: str, incarnation: str | None, epoch: int
) -> Registered | None:
    """Return the state after a call that is about an epoch."""
    is_later = epoch > state.largest
    match outcome:
        case "registered" | "registered or renewed":
            is_same = state.incarnation == incarnation and state.epoch == epoch
            return (
                Registered(
                    largest=max(epoch, state.largest),
                    incarnation=incarnation,
                    epoch=epoch,
                    is_sure=outcome != RENEWABLE,
                )
                if is_same or is_later
                else None
            )
        case "alive":
            is_untold = state.incarnation is not None and not state.is_sure and is_later
            return state if state.holds(epoch) or is_untold else None
        case "alive or not yet":
            return state if state.holds(epoch) or is_later else None
        case "over or renewed":
            is_over = state.holds(epoch) and state.is_sure
            over = replace(state, incarnation=UNASKED, epoch=None, is_sure=False)
            return over if is_over else state
        case _:
            return None if state.holds(epoch) and state.is_sure else state


def _after_lost_registration(state: Registered, incarnation: str | None) -> Registered:
    epoch = state.epoch if state.incarnation == incarnation else None
    return Registered(largest=state.largest, incarnation=incarnation, epoch=epoch, is_sure=False)


def epochs_told(calls: Sequence[Hashable]) -> set[int]:
    """Return the epochs that calls name."""
    return {call[2] for call in calls if isinstance(call, tuple) and call[2] is not None}


def refused(calls: Sequence[Hashable]) -> set[str]:
    """Return the incarnations whose registration was refused as a duplicate."""
    return {call[1] for call in calls if isinstance(call, tuple) and call[0] == "duplicate"}
