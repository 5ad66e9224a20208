"""P42: a Produce gets a tenth of its time."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P42",
    title="A Produce gets a tenth of its time",
    source="ours",
    kind="L",
    workload="log",
    expected="ProducersLearnOfCommits",
    edits=(
        Edit(
            module="kraftproof.node.core.broker.data.produce",
            old="wait_ms * NANOSECONDS_PER_MS)",
            new="wait_ms * NANOSECONDS_PER_MS // 10)",
        ),
    ),
)
