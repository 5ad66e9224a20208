"""G6: A request for a slice of a snapshot is no contact of the replica."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="G6",
    title="A request for a slice of a snapshot is no contact of the replica",
    source="ours; KIP-630 (FetchSnapshot), 595-43",
    expected="NoNeedlessResignation",
    edits=(
        Edit(
            module="kraftproof.node.core.raft.snapshots.serving",
            old="replica(params.replica_id, now.monotonic).contact = now.monotonic",
            new="replica(params.replica_id, now.monotonic)",
        ),
    ),
)
