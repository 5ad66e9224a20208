"""Choose the hooks of a request by its sender: a super user, or a client with rights of its own.

Most invariants take it for granted that their clients may do everything.
"""

from collections.abc import Callable, Sequence
from typing import Any

from kraftproof.cluster.simulated.invariants.invariant import InvariantMonitor
from kraftproof.cluster.simulated.node.data_requests import is_data
from kraftproof.node.core.events import Received
from kraftproof.node.wire.principal import ANONYMOUS

Hooks = Sequence[Callable[..., Any]]


def _is_plain(event: Received) -> bool:
    """Return whether the sender, and the forwarding broker if any, are super users."""
    if event.principal is not ANONYMOUS and event.principal != ANONYMOUS:
        return False
    return event.forwarded_by is None or event.forwarded_by == ANONYMOUS


def received_hooks(monitor: InvariantMonitor, event: Received) -> Hooks:
    """Return the hooks that hear of a request."""
    if is_data(event):
        return monitor.on_data_received[type(event.message)]
    hooks = monitor.on_received if _is_plain(event) else monitor.on_client_received
    return hooks[type(event.message)]


def replying_hooks(monitor: InvariantMonitor, event: Received) -> Hooks:
    """Return the hooks that hear of an answer before the step goes on."""
    return monitor.on_replying[type(event.message)] if _is_plain(event) else ()


def replied_hooks(monitor: InvariantMonitor, event: Received) -> Hooks:
    """Return the hooks that hear of an answer after its step."""
    hooks = monitor.on_replied if _is_plain(event) else monitor.on_client_replied
    return hooks[type(event.message)]
