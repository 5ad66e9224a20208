"""K15: the interval of snapshots is taken ten times."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="K15",
    title="The interval of snapshots is taken ten times",
    source="ours; KIP-631 (metadata.log.max.snapshot.interval.ms)",
    kind="L",
    expected="SnapshotsKeepTheInterval",
    edits=(
        Edit(
            module="kraftproof.node.core.snapshots",
            old="Monotonic(now.monotonic + policy.interval_ns)",
            new="Monotonic(now.monotonic + 10 * policy.interval_ns)",
        ),
    ),
)
