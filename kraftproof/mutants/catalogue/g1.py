"""G1: A second leader of an epoch is not refused by its error."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="G1",
    title="A second leader of an epoch is not refused by its error",
    source="ours; KIP-595 (BeginQuorumEpoch)",
    expected="MistakesAreNamed",
    edits=(
        Edit(
            module="kraftproof.node.core.raft.announcements",
            old="""        is_known_epoch = partition.leader_epoch == state.epoch
        if is_known_epoch and state.durable.leader not in (NO_NODE, leader):
            return ErrorCode.INVALID_REQUEST
        return ErrorCode.NONE

    def receive_end""",
            new="""        return ErrorCode.NONE

    def receive_end""",
        ),
    ),
)
