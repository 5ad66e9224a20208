"""G3: the second successor stands for election at once, too."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="G3",
    title="The second successor stands for election at once, too",
    source="ours; KIP-595 (EndQuorumEpoch)",
    expected="SuccessorsElectInOrder",
    edits=(
        Edit(
            module="kraftproof.node.core.raft.announcements",
            old="        if position == 0:",
            new="        if position <= 1:",
        ),
    ),
)
