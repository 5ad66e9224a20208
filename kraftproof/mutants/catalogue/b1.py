"""B1: the end offset of a snapshot is one record too small."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="B1",
    title="A snapshot's id names its last record, not the offset after it",
    source="KAFKA-14618 (058d8d530b0)",
    expected="SnapshotMatchesLog",
    edits=(
        Edit(
            module="kraftproof.node.core.snapshots",
            old="""from kraftproof.node.core.base.types import Instant, Monotonic
""",
            new="""from kraftproof.node.core.base.snapshot_ids import SnapshotId
from kraftproof.node.core.base.types import Instant, Monotonic, Offset
""",
        ),
        Edit(
            module="kraftproof.node.core.snapshots",
            old="snapshot=committed.end,",
            new="snapshot=SnapshotId(Offset(committed.offset - 1), committed.end.epoch),",
        ),
    ),
)
