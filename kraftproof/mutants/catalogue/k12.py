"""K12: the answer to a Vote does not tell the leader."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="K12",
    title="The answer to a Vote does not tell the leader",
    source="ours; KIP-595 (Current Leader Discovery)",
    kind="L",
    expected="ElectionAnswersAreRight",
    edits=(
        Edit(
            module="kraftproof.node.core.raft.rpc",
            old="""        leader_id=state.leader,
        leader_epoch=state.epoch,
        vote_granted=granted,
""",
            new="""        leader_id=NodeId(-1),
        leader_epoch=state.epoch,
        vote_granted=granted,
""",
        ),
    ),
)
