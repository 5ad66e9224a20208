"""State what a start after an interruption may find: the log, the snapshots, the quorum state."""

from collections.abc import Mapping

from msgspec import Struct

from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.base.snapshot_ids import LOG_BEGIN, SnapshotId
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.storage.stored import Stored
from kraftproof.node.wire.records.batch import Batch


class Log(Struct, kw_only=True):
    """A state that the next start may find."""

    batches: list[Batch]
    """In order, some of them below the start of the log."""
    least: int
    """The end of the records that are durable."""
    snapshots: list[SnapshotId]
    """Those that are complete, oldest first; the newest is found."""
    states: list[QuorumState]
    watermark: int = 0
    """The largest high watermark that the files may have."""

    @property
    def end(self) -> int:
        """The end of the log."""
        newest = self.snapshots[-1].end_offset if self.snapshots else 0
        return self.batches[-1].next_offset if self.batches else newest

    def after(
        self,
        *,
        batches: list[Batch] | None = None,
        least: int | None = None,
        snapshots: list[SnapshotId] | None = None,
    ) -> "Log":
        """Return the state with other batches, another durable end, or other snapshots."""
        return Log(
            batches=self.batches if batches is None else batches,
            least=self.least if least is None else least,
            snapshots=self.snapshots if snapshots is None else snapshots,
            states=self.states,
            watermark=self.watermark,
        )


def wrong_start(stored: Stored, log: Log, images: Mapping[SnapshotId, MetadataImage]) -> str | None:
    """Return what a start has found in place of a state, or None."""
    history, start = stored.history, stored.history.log_start
    kept = [one.snapshot for one in history.kept]
    newest = log.snapshots[-1:]
    if kept[-1:] != newest:
        return f"the snapshots {kept}, not {newest}"
    if kept and (history.newest is None or history.newest.image != images[kept[-1]]):
        return f"another image in {kept[-1]}"
    if start != LOG_BEGIN and start not in kept:
        return f"a begin at {start} without its snapshot"
    end = stored.batches[-1].next_offset if stored.batches else start.end_offset
    if not log.least <= end <= log.end:
        return f"the end {end}, not {log.least} to {log.end}"
    visible = [
        one for one in log.batches if one.base_offset >= start.end_offset and one.next_offset <= end
    ]
    if visible != [*stored.batches]:
        return f"batches that end at {[one.next_offset for one in stored.batches]}"
    if stored.durable not in log.states:
        return f"the quorum state {stored.durable}, not {log.states}"
    if history.high_watermark > log.watermark:
        return f"the high watermark {history.high_watermark}, above {log.watermark}"
    return None
