"""P38: a Fetch without news waits half of its time."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P38",
    title="A Fetch without news waits half of its time",
    source="ours; max.wait of KIP-74",
    kind="L",
    workload="log",
    expected="WaitingFetchesAreAnswered",
    edits=(
        Edit(
            module="kraftproof.node.core.broker.data.fetch",
            old="deadline = Monotonic(now.monotonic + wait_ms * NANOSECONDS_PER_MS)",
            new="deadline = Monotonic(now.monotonic + wait_ms * NANOSECONDS_PER_MS // 2)",
        ),
    ),
)
