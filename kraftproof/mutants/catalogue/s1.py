"""S1: nothing waits for the quorum state to be on disk."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="S1",
    title="The shell handles events and effects while a PersistQuorumState is under way",
    source="ours; the class of datatechnology/cornerstone#65",
    expected="BarriersHold",
    edits=(
        Edit(
            module="kraftproof.node.shell.effect_executor",
            old="BARRIERS: Final = frozenset((Truncate, InstallSnapshot, PersistQuorumState))",
            new="BARRIERS: Final = frozenset((Truncate, InstallSnapshot))",
        ),
    ),
)
