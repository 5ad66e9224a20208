"""The registration of brokers: incarnations, epochs, sessions (KIP-631, "Broker Leases").

One key a broker id. The incarnation and the epoch of a registration are linearizable, because only
the active controller answers. Fencing tokens (broker epochs) and leases in real time are more than
that, and `checkers.kraft` (tokens.py, sessions/leases.py) checks them: here a lease may end at any
time, and only a registration by another incarnation or an unregistration ends a registration.

A lost answer leaves an epoch that no client received; when the same incarnation asks again, it may
receive another epoch. Such an epoch stays unknown; the model then accepts more than the real
behaviour, never less.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Collection, Container, Hashable, Sequence
from itertools import product
from typing import Final

from typing_extensions import override

from kraftproof.checkers.calls.registration import RegistrationCalls, Said, registration_calls
from kraftproof.checkers.history.columns import Columns
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.kraft.heartbeats import check_heartbeats
from kraftproof.checkers.kraft.registrations import Registrations
from kraftproof.checkers.kraft.sessions.expiry import check_expiry
from kraftproof.checkers.kraft.sessions.leases import check_leases
from kraftproof.checkers.kraft.tokens import check_tokens
from kraftproof.checkers.models import PropertyModel, unknown_function
from kraftproof.checkers.models.reducible import ReducibleModel
from kraftproof.checkers.models.registration_reasons import registration_reason
from kraftproof.checkers.models.registration_steps import (
    NOT_YET,
    OVER,
    RENEWABLE,
    UNASKED,
    Registered,
    after,
    epochs_told,
    refused,
)
from kraftproof.checkers.options import CheckOptions
from kraftproof.checkers.text import as_json
from kraftproof.checkers.verdict import Finding

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
_MOST_STATES: Final = 2_000
"""Beyond these, the states that a window of a history may begin in are too many."""
_ALIVE: Final = frozenset({"alive", NOT_YET})
_PURE: Final = frozenset({"duplicate", "stale", "absent", *_ALIVE})
_HELPED: Final = {
    "registered": frozenset({"duplicate", "stale", *_ALIVE}),
    RENEWABLE: _ALIVE,
    "may be registered": frozenset({"duplicate", "stale", "alive", OVER}),
    "unregistered": frozenset({"stale", "absent"}),
    "may be unregistered": frozenset({"stale", "absent"}),
    OVER: frozenset(),
}
"""For each kind of call, the kinds that the call may enable."""
_LOST_OUT: Final = "lost registrations"
"""The common value of all indeterminate registrations."""
_OUTPUT: Final[dict[str, dict[str, type]]] = {
    "registered": {"epoch": int},
    "alive": {"fenced": bool, "should_shut_down": bool},
}


class Registration(ReducibleModel, PropertyModel):
    """Broker ids that are registered, kept alive, and unregistered, even again (631-63)."""

    name = "registration"
    is_compiled = False
    functions = frozenset(_OUTCOMES)
    no_initial_value = "a lease begins with an operation: record the register in the history"

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

    def calls_of(self, columns: Columns) -> RegistrationCalls:
        """Return the calls of all broker ids."""
        found: list[Said | None] = []
        for key in range(len(columns.keys)):
            for operation in columns.operations(key):
                self.validate(operation)
                found.append(_call(operation))
        return registration_calls(columns, found)

    def reason(self, operations: Sequence[Operation], wrong: Operation) -> str | None:
        """Return which registration leaves no capacity for an answer."""
        return registration_reason(operations, wrong)

    @override
    def init(self) -> Hashable:
        return Registered()

    @override
    def calls(self, operations: Sequence[Operation]) -> list[Hashable | None]:
        """Map an incarnation that no other call names to one common incarnation."""
        found = [_call(operation) for operation in operations]
        named = {call[1] for call in found if call is not None and call[0] != _LOST["register"]}
        lost = (_LOST["register"], UNASKED, None)
        return [
            lost if call is not None and call[0] == lost[0] and call[1] not in named else call
            for call in found
        ]

    @override
    def step(self, state: Hashable, call: Hashable) -> Hashable | None:
        assert isinstance(state, Registered)
        assert isinstance(call, tuple)
        return after(state, call)

    @override
    def is_pure(self, call: Hashable) -> bool:
        assert isinstance(call, tuple)
        return call[0] in _PURE

    @override
    def normal_form(self, calls: Sequence[Hashable]) -> Callable[[Hashable], Hashable]:
        """Round the largest epoch down to an epoch that some call names.

        If the epoch is unknown, only refusals depend on the registered incarnation.
        """
        known = {-1, *epochs_told(calls)}
        rounded = sorted(known)
        unregistered = {None, *refused(calls)}

        def normal(state: Hashable) -> Hashable:
            assert isinstance(state, Registered)
            epoch = state.epoch if state.largest in known else None
            is_named = epoch is not None or state.incarnation in unregistered
            return Registered(
                largest=rounded[bisect_right(rounded, state.largest) - 1],
                incarnation=state.incarnation if is_named else UNASKED,
                epoch=epoch,
                is_sure=state.is_sure,
            )

        return normal

    @override
    def any_state(
        self, starts: Sequence[Hashable], history: Sequence[Hashable], window: Sequence[Hashable]
    ) -> Sequence[Hashable] | None:
        epochs = [-1, *sorted(epochs_told(window))]
        untold = [(incarnation, None) for incarnation in (*sorted(refused(window)), UNASKED)]
        if len(epochs) * len(untold) * 4 > _MOST_STATES:
            return None
        granted: dict[int, set[tuple[str, int]]] = defaultdict(set)
        for call in history:
            if isinstance(call, tuple) and call[0] in {"registered", RENEWABLE}:
                granted[call[2]].add((call[1], call[2]))
        held = [
            Registered(largest=largest, incarnation=incarnation, epoch=epoch, is_sure=is_sure)
            for largest, is_sure in product(epochs, (True, False))
            for incarnation, epoch in (*untold, *sorted(granted[largest]))
        ]
        return [*(Registered(largest=largest) for largest in epochs), *held]

    @override
    def values(self, call: Hashable) -> frozenset[Hashable]:
        """Return epochs and incarnations; indeterminate registrations share one value."""
        assert isinstance(call, tuple)
        outcome, incarnation, epoch = call
        if outcome == _LOST["register"]:
            return frozenset({_LOST_OUT, incarnation})
        return frozenset({epoch, incarnation if outcome == "registered" else None} - {None})

    @override
    def without(self, call: Hashable, values: Container[Hashable]) -> Hashable | None:
        """Omit or weaken calls that depend on indeterminate registrations, too.

        The indeterminate registrations of an incarnation may be kept, to show whether its epochs
        were renewed. If all are kept, their effect depends on every grant.
        """
        assert isinstance(call, tuple)
        outcome, incarnation, epoch = call
        if epoch is not None and epoch in values and outcome in _PURE:
            return None
        if _LOST_OUT not in values:
            return call
        return _without_lost(outcome, incarnation, epoch, values)

    @override
    def candidate_causes(
        self, calls: Collection[Hashable], others: Collection[Hashable]
    ) -> Collection[Hashable]:
        said = {other[0] for other in others if isinstance(other, tuple)}
        return [
            call
            for call in calls
            if isinstance(call, tuple) and not said.isdisjoint(_HELPED.get(call[0], said))
        ]

    @override
    def describe_call(self, call: Hashable) -> str | None:
        assert isinstance(call, tuple)
        return {
            NOT_YET: f"epoch {call[2]} is alive, or greater than every epoch in an answer",
            OVER: f"epoch {call[2]} is not alive from then on, or may have been renewed",
            RENEWABLE: f"epoch {call[2]} is alive, and may be renewed",
            _LOST["unregister"]: "no incarnation is registered afterwards",
        }.get(call[0])

    @override
    def describe(self, state: Hashable) -> str:
        assert isinstance(state, Registered)
        if state.incarnation is None:
            return "no registration"
        if state.incarnation == UNASKED:
            return f"another incarnation registered, the largest known epoch is {state.largest}"
        epoch = "an unknown epoch" if state.epoch is None else f"epoch {state.epoch}"
        return f"{state.incarnation} registered with {epoch}"

    @override
    def check(
        self, key: str, operations: Sequence[Operation], options: CheckOptions
    ) -> list[Finding]:
        registrations = Registrations.of(key, operations)
        return [
            *check_tokens(registrations),
            *check_heartbeats(registrations, options.leases),
            *check_leases(registrations, options.leases),
            *check_expiry(registrations, options.leases),
        ]


def _call(operation: Operation) -> Said | None:
    """A call is (what was answered or may have happened, incarnation, epoch)."""
    asked = operation.input if isinstance(operation.input, dict) else {}
    said = operation.output if isinstance(operation.output, dict) else {}
    if operation.status != "ok":
        lost = _LOST.get(operation.f)
        return None if lost is None else (lost, asked.get("incarnation"), None)
    incarnation = asked.get("incarnation") if operation.f == "register" else None
    return (str(said.get("outcome")), incarnation, said.get("epoch", asked.get("epoch")))


def _without_lost(
    outcome: str, incarnation: str | None, epoch: int | None, values: Container[Hashable]
) -> Hashable | None:
    """Return the remaining part of a call without indeterminate registrations and some values."""
    is_out, is_epoch_out = incarnation in values, epoch in values
    match outcome:
        case "registered" | "registered or renewed":
            is_known = outcome == "registered" and not is_out
            left = (outcome, incarnation, epoch) if is_known else (RENEWABLE, UNASKED, epoch)
            return None if is_epoch_out else left
        case "may be registered":
            return None if is_out else (outcome, incarnation, epoch)
        case "duplicate":
            return None
        case "alive" | "alive or not yet":
            return (NOT_YET, None, epoch)
        case "stale" | "over or renewed":
            return None if is_epoch_out else (OVER, None, epoch)
        case _:
            return (outcome, incarnation, epoch)


def _validate_outcome(operation: Operation) -> None:
    value = operation.output
    outcome = value.get("outcome") if isinstance(value, dict) else None
    known = _OUTCOMES[operation.f]
    if not isinstance(outcome, str) or outcome not in known:
        raise ValueError(
            f"field value: outcome of {operation.f} is one of {', '.join(known)},"
            f" not {as_json(value)}"
        )
    _validate_fields(outcome, value, _OUTPUT.get(outcome, {}))


def _validate_fields(what: str, value: object, wanted: dict[str, type]) -> None:
    for name, kind in wanted.items():
        found = value.get(name) if isinstance(value, dict) else None
        if type(found) is not kind:
            raise ValueError(
                f"field value: {what} has {name} as {kind.__name__}, not {as_json(value)}"
            )
