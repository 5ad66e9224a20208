"""The trace: one JSON line whenever what a node shows of itself has changed.

It is what checkers read as the table `trace`; not a log for people. A line is also written when
the wall clock has jumped against the monotonic one, so that a shifted clock can be seen.
"""

from collections.abc import Callable
from typing import Final

import msgspec

from kraftproof.node.core.base.types import NANOSECONDS_PER_MS, Instant, NodeId
from kraftproof.node.core.status import NodeStatus
from kraftproof.node.storage.filesystem import FileSystem

CLOCK_JUMP_NS = 200 * NANOSECONDS_PER_MS
_ENCODER: Final = msgspec.json.Encoder()


def trace_row(
    status: NodeStatus, now: Instant, *, seq: int, node: NodeId, incarnation: str, event: str
) -> dict[str, object]:
    """Return one row of the table `trace`; server and simulator write the same."""
    return {
        "seq": seq,
        "time": now.monotonic,
        "wall": now.wall,
        "node": node,
        "incarnation": incarnation,
        "event": event,
        "role": status.role,
        "epoch": status.epoch,
        "leader": status.leader,
        "high_watermark": status.high_watermark,
        "flushed": status.flushed,
        "log_end": status.log_end,
        "image_offset": status.image_offset,
        "image_digest": f"{status.image_digest:032x}",
        "snapshot_end": status.snapshot_end,
        "broker_state": status.broker_state,
    }


class TraceWriter:
    """The trace file of one process."""

    __slots__ = ("_handle", "_incarnation", "_last", "_node", "_offset_ns", "_run_time", "_seq")

    def __init__(
        self,
        filesystem: FileSystem,
        path: str,
        *,
        node: NodeId,
        incarnation: str,
        run_time: Callable[[], int] | None = None,
    ) -> None:
        """Open the file.

        Args:
            filesystem: Where it is.
            path: Its name there.
            node: Whose steps they are.
            incarnation: Which start of the node this is.
            run_time: The time of the run, where another clock than the node's tells it.
        """
        self._handle = filesystem.append_to(path)
        if filesystem.size(path):
            self._handle.write(b"\n")  # ends a line that a kill has cut short
        self._node = node
        self._incarnation = incarnation
        self._run_time = run_time
        self._seq = 0
        self._last: NodeStatus | None = None
        self._offset_ns = 0

    def write(self, status: NodeStatus, now: Instant, event: str) -> None:
        """Add a line if the status differs from the last one's, or a clock has jumped."""
        offset_ns = now.wall - now.monotonic
        if status == self._last and abs(offset_ns - self._offset_ns) < CLOCK_JUMP_NS:
            return
        self._last = status
        self._offset_ns = offset_ns
        row = trace_row(
            status,
            now,
            seq=self._seq,
            node=self._node,
            incarnation=self._incarnation,
            event=event,
        )
        if self._run_time is not None:
            row["run_time"] = self._run_time()
        self._seq += 1
        self._handle.write(_ENCODER.encode(row) + b"\n")

    def close(self) -> None:
        """Let go of the file."""
        self._handle.close()
