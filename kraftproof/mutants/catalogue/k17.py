"""K17: a leader takes an endorsement for an error, and asks again."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="K17",
    title="A leader takes an endorsement for an error, and asks again",
    source="ours; KIP-595 (BeginQuorumEpoch response), a survivor of the generated mutants",
    kind="L",
    expected="EndorsedVotersAreLeftAlone",
    edits=(
        Edit(
            module="kraftproof.node.core.raft.announcements",
            old="        if error == ErrorCode.NONE:\n            state.role",
            new="        if error is None:\n            state.role",
        ),
    ),
)
