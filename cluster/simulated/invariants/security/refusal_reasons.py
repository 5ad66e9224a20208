"""Invariant that a refusal has a reason in words, wherever its answer has a field for one."""

from functools import cache
from typing import Any

import msgspec
from typing_extensions import override

from kraftproof.cluster.simulated.invariants.invariant import Invariant, ProcessView
from kraftproof.node.core.controller.decisions import DECISIONS
from kraftproof.node.core.events import Received
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import Message

CODE, REASON = "error_code", "error_message"
UNTRIED = (ErrorCode.NOT_CONTROLLER, ErrorCode.REQUEST_TIMED_OUT)
"""The errors of requests that were not decided."""


class RefusalsSayWhy(Invariant):
    """The results in the answers of the controller (KIP-4, KIP-599)."""

    statement = "A result of a request has a reason in words if it is an error, and only then."
    requests = tuple(DECISIONS)

    @override
    def on_replied(self, process: ProcessView, event: Received, message: Message) -> None:
        if not event.on_controller_listener:
            return  # an answer that a broker passes on may come in a version without words
        for code, reason in results_of(message):
            if code in UNTRIED or bool(code) == bool(reason):
                continue
            detail = f"{type(event.message).__name__}: error {code} with the reason {reason!r}"
            self.monitor.report_violation(self, process, detail)

    @override
    def on_client_replied(self, process: ProcessView, event: Received, message: Message) -> None:
        self.on_replied(process, event, message)


def results_of(part: msgspec.Struct) -> list[tuple[int, str | None]]:
    """Return the error and the reason of each result in an answer that has fields for both."""
    found: list[tuple[int, str | None]] = []
    is_result, arrays = _fields_of(type(part))
    if is_result:
        found.append((getattr(part, CODE), getattr(part, REASON)))
    for name in arrays:
        for one in getattr(part, name) or ():
            found += results_of(one)
    return found


@cache
def _fields_of(kind: Any) -> tuple[bool, tuple[str, ...]]:  # noqa: ANN401 - a class
    """Return whether a class is a result, and its fields with parts that may have results."""
    fields = {field.name: field.type for field in msgspec.structs.fields(kind)}
    arrays = []
    for name, hint in fields.items():
        part = _part_of(hint)
        if part is not None and _has_results(part):
            arrays.append(name)
    return {CODE, REASON} <= fields.keys(), tuple(arrays)


def _part_of(hint: Any) -> type[Any] | None:  # noqa: ANN401 - a type hint
    """Return the class of the members of an array; None for another type."""
    members = getattr(hint, "__args__", ())
    found = next((one for one in members if getattr(one, "__args__", ())), None)
    if found is not None:  # an array or None
        members = found.__args__
    part = members[0] if members else None
    return part if isinstance(part, type) and issubclass(part, msgspec.Struct) else None


def _has_results(part: Any) -> bool:  # noqa: ANN401 - a class
    is_result, arrays = _fields_of(part)
    return is_result or bool(arrays)
