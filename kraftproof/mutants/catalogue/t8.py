"""T8: a snapshot loses the recovery state of leaders."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="T8",
    title="A snapshot loses the recovery state of leaders",
    source="ours; KIP-704",
    expected="SnapshotFileMatchesImage",
    edits=(
        Edit(
            module="kraftproof.node.core.metadata.snapshot",
            old="""        leader_recovery_state=partition.recovery_state,
""",
            new="""""",
        ),
    ),
)
