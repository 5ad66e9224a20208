"""Bugs that are planted in limits, exemptions and rare states of the node; see planted.py."""

from typing import Any

from msgspec.structs import replace

from kraftproof.node.core.controller.active import ActiveController
from kraftproof.node.core.controller.barrier import ReadBarrier
from kraftproof.node.core.quotas import request_times
from kraftproof.node.core.raft.snapshots import serving
from kraftproof.node.core.security.authorizer import Authorizer
from kraftproof.node.shell.requests_in_flight import RequestsInFlight
from kraftproof.node.storage.partitions.log_directory import LogDirectory
from kraftproof.node.wire.messages import alter_partition_request, fetch_request
from kraftproof.node.wire.records import compression
from tests.cluster.simulated.differential.planted_outside import ignored


def _exempt_by_old_field(event: Any) -> Any:
    """Exempt a Fetch by the field of versions below 15 alone."""
    if isinstance(event.message, fetch_request.FetchRequest):
        return event.message.replica_id >= 0
    return _IS_EXEMPT(event)


def _with_all_the_room(codec: Any, block: Any, _: Any) -> Any:
    """Decompress a block of snappy without regard to the blocks before."""
    return _UNSNAP_BLOCK(codec, block, compression.LARGEST_BYTES)


def _inflated_at_once(data: Any, position: Any, output: Any) -> Any:
    """Decompress a member of gzip, and look at the bound afterwards."""
    bound = compression.LARGEST_BYTES
    compression.LARGEST_BYTES = 1 << 30
    try:
        position = _INFLATE(data, position, output)
    finally:
        compression.LARGEST_BYTES = bound
    if len(output) > bound:
        raise compression.WireError(f"a gzip batch of more than {bound} bytes")
    return position


def _removed_before_it_is_read(requests: Any, number: int, read: Any) -> bool:
    """Forget a request whose answer cannot be read, without a word."""
    waiting = requests._waiting.pop(number, None)
    message = None if waiting is None else read(waiting.request)
    if message is not None:
        waiting.on_answer(message)
    return message is not None


def _without_the_waiting(controller: Any) -> None:
    """End a leadership, and forget the requests that wait for a large change."""
    controller._waiting.clear()
    _RESIGN(controller)


def _not_extended(current: Any, asked: Any, now: Any) -> Any:
    """Follow a download until the end of its first wait."""
    found = _FOLLOWED(current, asked, now)
    is_same = current is not None and found.snapshot == current.snapshot
    return replace(found, until=current.until) if is_same else found


_FOLLOWED = serving.followed
_RESIGN = ActiveController.resign
_IS_EXEMPT = request_times._is_exempt
_UNSNAP_BLOCK, _INFLATE = compression._unsnap_block, compression._inflate
_NO_LEADERS = request_times._OF_NODES - {alter_partition_request.AlterPartitionRequest}
PLANTED = [
    ("compare_envelopes", Authorizer, "knows_forwarder", Authorizer.knows_sender),
    ("compare_envelopes", Authorizer, "allows_whole", lambda *_: True),
    ("compare_long_downloads", serving, "followed", _not_extended),
    ("compare_lost_leaderships", ActiveController, "resign", _without_the_waiting),
    ("compare_lost_leaderships", ReadBarrier, "take", lambda _: ()),
    ("compare_shell", RequestsInFlight, "answer", _removed_before_it_is_read),
    ("compare_exempt_requests", request_times, "_is_exempt", _exempt_by_old_field),
    ("compare_exempt_requests", request_times, "_OF_NODES", _NO_LEADERS),
    ("compare_partition_cuts", LogDirectory, "lower_start", ignored),
    ("compare_partition_cuts", LogDirectory, "lower_recovery_point", ignored),
    ("compare_bounded_outputs", compression, "_unsnap_block", _with_all_the_room),
    ("compare_bounded_outputs", compression, "_inflate", _inflated_at_once),
]
