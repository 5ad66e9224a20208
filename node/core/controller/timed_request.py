"""Pair a request of the controller listener with its deadline.

A request keeps the pair at each wait: for the activation, a large batch, a commit, the read
barrier. The deadline is set on arrival and never changes. See
docs/decisions/0265-each-wait-of-a-request-ends.md for the errors.
"""

from msgspec import Struct

from kraftproof.node.core.base.config import Timeouts
from kraftproof.node.core.base.types import Instant, Monotonic, milliseconds
from kraftproof.node.core.events import Received
from kraftproof.node.wire.messages import (
    Message,
    alter_partition_reassignments_request,
    create_partitions_request,
    create_topics_request,
    delete_topics_request,
    elect_leaders_request,
    list_partition_reassignments_request,
    update_features_request,
)


class TimedRequest(Struct, frozen=True, kw_only=True):
    """A request that is answered before `expires`, or at `expires` with an error."""

    event: Received
    expires: Monotonic

    def is_over(self, now: Instant) -> bool:
        """Return whether the deadline has passed."""
        return self.expires <= now.monotonic


def timed(event: Received, now: Instant, timeouts: Timeouts) -> TimedRequest:
    """Return the request with a deadline from the client's timeoutMs or the request time-out."""
    wait_ns = client_timeout_ns(event.message) or timeouts.request_ns
    return TimedRequest(event=event, expires=Monotonic(now.monotonic + wait_ns))


def client_timeout_ns(message: Message) -> int | None:
    """Return the time for which the client waits, if the request names a time."""
    match message:
        case (
            create_topics_request.CreateTopicsRequest(timeout_ms=timeout_ms)
            | create_partitions_request.CreatePartitionsRequest(timeout_ms=timeout_ms)
            | delete_topics_request.DeleteTopicsRequest(timeout_ms=timeout_ms)
            | elect_leaders_request.ElectLeadersRequest(timeout_ms=timeout_ms)
            | update_features_request.UpdateFeaturesRequest(timeout_ms=timeout_ms)
            | alter_partition_reassignments_request.AlterPartitionReassignmentsRequest(
                timeout_ms=timeout_ms
            )
            | list_partition_reassignments_request.ListPartitionReassignmentsRequest(
                timeout_ms=timeout_ms
            )
        ) if timeout_ms > 0:
            return milliseconds(timeout_ms)
        case _:
            return None
