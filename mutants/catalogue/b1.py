"""B1: a snapshot says that it ends one record early."""

from mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="B1",
    title="A snapshot's id names its last record, not the offset after it",
    source="KAFKA-14618 (058d8d530b0)",
    expected="SnapshotsSayWhatTheLogSays",
    edits=(
        Edit(
            module="node.core.snapshots",
            old="""from node.core.raft.raft import Raft
from node.core.types import Instant, Monotonic
""",
            new="""from node.core.raft.raft import Raft
from node.core.raft.snapshot_ids import SnapshotId
from node.core.types import Instant, Monotonic, Offset
""",
        ),
        Edit(
            module="node.core.snapshots",
            old="snapshot=committed.end,",
            new="snapshot=SnapshotId(Offset(committed.offset - 1), committed.end.epoch),",
        ),
    ),
)
