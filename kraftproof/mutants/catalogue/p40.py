"""P40: the bytes that a Fetch wants of a partition do not count."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P40",
    title="The bytes that a Fetch wants of a partition do not count",
    source="ours",
    workload="log",
    expected="AnswersNameTheLog",
    edits=(
        Edit(
            module="kraftproof.node.core.broker.data.fetch",
            old="            limit = min(max(read.part.asked.partition_max_bytes, 0), room)",
            new="            limit = room",
        ),
    ),
)
