"""A33: EndQuorumEpoch of an old epoch starts an early election."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="A33",
    title="EndQuorumEpoch of a smaller epoch brings an election forward",
    source="ours",
    kind="L",
    expected="OlderEpochsAreRefused",
    edits=(
        Edit(
            module="kraftproof.node.core.raft.announcements",
            old="""        if partition.leader_epoch < state.epoch:
            return ErrorCode.FENCED_LEADER_EPOCH
        if leader in (NO_NODE, state.node_id):""",
            new="        if leader in (NO_NODE, state.node_id):",
        ),
    ),
)
