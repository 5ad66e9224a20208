"""P90: retention compares the times of records with the monotonic clock, and removes none."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P90",
    kind="L",
    title="Retention compares the times of records with the monotonic clock, and removes none",
    source="ours; planted by somebody who had not seen the checks",
    expected="LogsAreKeptByTheirRules",
    edits=(
        Edit(
            module="kraftproof.node.core.broker.data.retention",
            old="self._retain(now.wall // NANOSECONDS_PER_MS)",
            new="self._retain(now.monotonic // NANOSECONDS_PER_MS)",
        ),
    ),
)
