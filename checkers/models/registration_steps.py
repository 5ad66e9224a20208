"""What the controller holds of one broker id, and what each call makes of it.

A call is (what was answered or may have happened, incarnation, epoch). The last three kinds are
what is left of calls where lost registrations were left out of a history
(`checkers.models.registration.Registration.without`).
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from kraftproof.checkers.calls.registration import Said

UNASKED: Final = "\0"
"""Stands for every incarnation that no call names; it is the name of none."""
NOT_YET: Final = "alive or not yet"
"""An accepted heartbeat: its epoch is held, or greater than any that was told."""
OVER: Final = "over or renewed"
"""A refused heartbeat: its epoch is not held from then on, unless it may have been renewed."""
RENEWABLE: Final = "registered or renewed"
"""A registration: another epoch may be given to the incarnation at any time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Registered:
    """What the controller holds of one broker id.

    Attributes:
        largest: the largest epoch that anybody was told.
        incarnation: who is registered, None if nobody.
        epoch: under which epoch, None if nobody was told.
        is_sure: whether that epoch can't have been replaced by one that nobody was told.

    A known epoch is the largest that anybody was told.
    """

    largest: int = -1
    incarnation: str | None = None
    epoch: int | None = None
    is_sure: bool = True

    def holds(self, epoch: int) -> bool:
        """Says whether somebody is registered under an epoch that was told."""
        return self.incarnation is not None and self.epoch == epoch


def after(state: Registered, call: Said) -> Registered | None:
    """Returns the state after a call, None if it can't have had its answer."""
    if call[2] is not None:
        return _after_epoch(state, call[0], call[1], call[2])
    outcome, incarnation, _ = call
    match outcome:
        case "may be registered":
            return _after_lost_registration(state, incarnation)
        case "duplicate":
            is_other = state.incarnation not in {None, incarnation}
            return state if is_other else None
        case "unregistered":
            return None if state.incarnation is None else Registered(largest=state.largest)
        case "may be unregistered":
            return Registered(largest=state.largest)
        case _:
            return state if state.incarnation is None else None


def _after_epoch(
    state: Registered, outcome: str, incarnation: str | None, epoch: int
) -> Registered | None:
    """Returns the state after a call that is about an epoch."""
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
    """Returns the epochs that calls name."""
    return {call[2] for call in calls if isinstance(call, tuple) and call[2] is not None}


def refused(calls: Sequence[Hashable]) -> set[str]:
    """Returns the incarnations that were told that another is registered."""
    return {call[1] for call in calls if isinstance(call, tuple) and call[0] == "duplicate"}
