"""P62: the age of a producer counts from its first batch."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P62",
    title="The age of a producer counts from its first batch",
    source="ours; KIP-98",
    workload="log",
    expected="CopiesMatchReference",
    edits=(
        Edit(
            module="kraftproof.node.core.partition.producers",
            old="""        producer.timestamp_ms = now_ms
""",
            new="""        producer.timestamp_ms = producer.timestamp_ms or now_ms
""",
        ),
    ),
)
