"""The registration of brokers: incarnations, epochs, sessions (KIP-631, "Broker Leases").

One key a broker id. Not a sequential model: what a controller promises here is about fencing tokens
(broker epochs) and leases in real time, and `checkers.kraft.tokens` and `checkers.kraft.leases`
check that.
"""

from collections.abc import Sequence
from typing import Final

from typing_extensions import override

from checkers.history import Operation
from checkers.kraft.leases import check_leases
from checkers.kraft.registrations import Registrations
from checkers.kraft.tokens import check_tokens
from checkers.models import PropertyModel, unknown_function
from checkers.models.cas_register import canonical
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
_OUTPUT: Final[dict[str, dict[str, type]]] = {
    "registered": {"epoch": int},
    "alive": {"fenced": bool, "should_shut_down": bool},
}


class Registration(PropertyModel):
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
    def key(self, operation: Operation) -> str:
        return operation.key

    @override
    def check(
        self, key: str, operations: Sequence[Operation], options: CheckOptions
    ) -> list[Finding]:
        registrations = Registrations.of(key, operations)
        return check_tokens(registrations) + check_leases(registrations, options.leases)


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
