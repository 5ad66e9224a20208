"""D10-quorum: a request of another cluster's quorum is served."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="D10-quorum",
    title="A request of another cluster's quorum is served",
    source="KAFKA-13528, KAFKA-10817, KAFKA-12440",
    expected="ForeignClusterIdRefused",
    edits=(
        Edit(
            module="kraftproof.node.core.raft.rpc",
            old="and bool(config.cluster_id) and cluster_id != config.cluster_id",
            new="and not config.cluster_id",
        ),
    ),
)
