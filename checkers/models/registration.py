"""The registration of brokers: incarnations, epochs, sessions (KIP-631, "Broker Leases").

One key a broker id. What a registration holds, its incarnation and its epoch, is linearizable, for
the active controller answers. Fencing tokens (broker epochs) and leases in real time are more than
that, and `checkers.kraft.tokens` and `checkers.kraft.leases` check them: here a lease may end at
any time, and only a registration by another incarnation or an unregistration ends a registration.

An answer that was lost leaves an epoch that nobody was told; the same incarnation asking again may
have been given another epoch or the same. What such an epoch is, is left open, which admits a
little more than the truth and never less.
"""

from bisect import bisect_right
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final

from typing_extensions import override

from checkers.history import Operation
from checkers.kraft.expiry import check_expiry
from checkers.kraft.leases import check_leases
from checkers.kraft.registrations import Registrations
from checkers.kraft.tokens import check_tokens
from checkers.kraft.wishes import check_wishes
from checkers.models import PropertyModel, unknown_function
from checkers.models.cas_register import canonical
from checkers.models.reducible import ReducibleModel
from checkers.options import CheckOptions
from checkers.verdict import Finding

_OUTCOMES: Final = {
    "register": ("registered", "duplicate"),
    "heartbeat": ("alive", "stale"),
    "unregister": ("unregistered", "absent"),
}
_INPUT: Final[dict[str, dict[str, type]]] = {
    "register": {"incarnation": str},
    "heartbeat": {"epoch": int, "want_fence": bool, "want_shut_down": bool},
    "unregister": {},
}
_LOST: Final = {"register": "may be registered", "unregister": "may be unregistered"}
_UNASKED: Final = ""
"""Stands for every incarnation that no call names."""
_MOST_STATES: Final = 2_000
"""Beyond these, the states that a window of a history may begin in are too many."""
_PURE: Final = frozenset({"duplicate", "alive", "stale", "absent"})
_OUTPUT: Final[dict[str, dict[str, type]]] = {
    "registered": {"epoch": int},
    "alive": {"fenced": bool, "should_shut_down": bool},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Registered:
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


class Registration(ReducibleModel, PropertyModel):
    """Broker ids that are registered, kept alive, lost and unregistered."""

    name = "registration"
    functions = frozenset(_OUTCOMES)

    @override
    def validate(self, operation: Operation) -> None:
        if operation.f not in self.functions:
            raise unknown_function(self, operation)
        if operation.invoke_time is None or (
            operation.status == "ok" and operation.complete_time is None
        ):
            raise ValueError(f"field time: {self.name} needs the time of every {operation.f}")
        _validate_fields(operation.f, operation.input, _INPUT[operation.f])
        if operation.status == "ok":
            _validate_outcome(operation)

    @override
    def init(self) -> Hashable:
        return _Registered()

    @override
    def calls(self, operations: Sequence[Operation]) -> list[Hashable | None]:
        return [_call(operation) for operation in operations]

    @override
    def step(self, state: Hashable, call: Hashable) -> Hashable | None:
        assert isinstance(state, _Registered)
        assert isinstance(call, tuple)
        outcome, incarnation, epoch = call
        match outcome:
            case "registered":
                return _after_registration(state, incarnation, epoch)
            case "may be registered":
                return _after_lost_registration(state, incarnation)
            case "duplicate":
                is_other = state.incarnation not in {None, incarnation}
                return state if is_other else None
            case "alive":
                return state if _may_be_alive(state, epoch) else None
            case "stale":
                is_alive = state.incarnation is not None and state.epoch == epoch
                return None if is_alive and state.is_sure else state
            case "unregistered":
                return None if state.incarnation is None else _Registered(largest=state.largest)
            case "may be unregistered":
                return _Registered(largest=state.largest)
            case _:
                return state if state.incarnation is None else None

    @override
    def is_pure(self, call: Hashable) -> bool:
        assert isinstance(call, tuple)
        return call[0] in _PURE

    @override
    def normal_form(self, calls: Sequence[Hashable]) -> Callable[[Hashable], Hashable]:
        """Rounds the largest epoch down to one that some call is about."""
        known = {-1, *_epochs(calls)}
        rounded = sorted(known)
        named = {None, *_incarnations(calls)}

        def normal(state: Hashable) -> Hashable:
            assert isinstance(state, _Registered)
            if state.largest in known and state.incarnation in named:
                return state
            is_known = state.largest in known
            return _Registered(
                largest=rounded[bisect_right(rounded, state.largest) - 1],
                incarnation=state.incarnation if state.incarnation in named else _UNASKED,
                epoch=state.epoch if is_known else None,
                is_sure=state.is_sure,
            )

        return normal

    @override
    def any_state(
        self, starts: Sequence[Hashable], history: Sequence[Hashable], window: Sequence[Hashable]
    ) -> Sequence[Hashable] | None:
        epochs = [-1, *sorted(_epochs(window))]
        named = [*sorted(_incarnations(window)), _UNASKED]
        if len(epochs) * len(named) * 4 > _MOST_STATES:
            return None
        granted = _epochs([call for call in history if _is_grant(call)])
        held = [
            _Registered(largest=largest, incarnation=incarnation, epoch=epoch, is_sure=is_sure)
            for largest, incarnation, is_sure in product(epochs, named, (True, False))
            for epoch in ((None, largest) if largest in granted else (None,))
        ]
        return [*(_Registered(largest=largest) for largest in epochs), *held]

    @override
    def describe(self, state: Hashable) -> str:
        assert isinstance(state, _Registered)
        if state.incarnation is None:
            return "no registration"
        if state.incarnation == _UNASKED:
            return f"some other incarnation registered, the largest epoch told is {state.largest}"
        epoch = "an epoch nobody was told" if state.epoch is None else f"epoch {state.epoch}"
        return f"{state.incarnation} registered with {epoch}"

    @override
    def check(
        self, key: str, operations: Sequence[Operation], options: CheckOptions
    ) -> list[Finding]:
        registrations = Registrations.of(key, operations)
        return [
            *check_tokens(registrations),
            *check_wishes(registrations, options.leases),
            *check_leases(registrations, options.leases),
            *check_expiry(registrations, options.leases),
        ]


def _call(operation: Operation) -> Hashable | None:
    """A call is (what was answered or may have happened, incarnation, epoch)."""
    asked = operation.input if isinstance(operation.input, dict) else {}
    said = operation.output if isinstance(operation.output, dict) else {}
    if operation.status != "ok":
        lost = _LOST.get(operation.f)
        return None if lost is None else (lost, asked.get("incarnation"), None)
    incarnation = asked.get("incarnation") if operation.f == "register" else None
    return (said.get("outcome"), incarnation, said.get("epoch", asked.get("epoch")))


def _epochs(calls: Sequence[Hashable]) -> set[int]:
    return {call[2] for call in calls if isinstance(call, tuple) and call[2] is not None}


def _incarnations(calls: Sequence[Hashable]) -> set[str]:
    return {call[1] for call in calls if isinstance(call, tuple) and call[1] is not None}


def _is_grant(call: Hashable) -> bool:
    return isinstance(call, tuple) and call[0] == "registered"


def _after_registration(state: _Registered, incarnation: str, epoch: int) -> _Registered | None:
    is_same = state.incarnation == incarnation and state.epoch == epoch
    if not is_same and epoch <= state.largest:
        return None
    return _Registered(largest=max(epoch, state.largest), incarnation=incarnation, epoch=epoch)


def _after_lost_registration(state: _Registered, incarnation: str) -> _Registered:
    epoch = state.epoch if state.incarnation == incarnation else None
    return _Registered(largest=state.largest, incarnation=incarnation, epoch=epoch, is_sure=False)


def _may_be_alive(state: _Registered, epoch: int) -> bool:
    if state.incarnation is None:
        return False
    return state.epoch == epoch or (not state.is_sure and epoch > state.largest)


def _validate_outcome(operation: Operation) -> None:
    value = operation.output
    outcome = value.get("outcome") if isinstance(value, dict) else None
    known = _OUTCOMES[operation.f]
    if not isinstance(outcome, str) or outcome not in known:
        raise ValueError(
            f"field value: outcome of {operation.f} is one of {', '.join(known)},"
            f" not {canonical(value)}"
        )
    _validate_fields(outcome, value, _OUTPUT.get(outcome, {}))


def _validate_fields(what: str, value: object, wanted: dict[str, type]) -> None:
    for name, kind in wanted.items():
        found = value.get(name) if isinstance(value, dict) else None
        if type(found) is not kind:
            raise ValueError(
                f"field value: {what} has {name} as {kind.__name__}, not {canonical(value)}"
            )
