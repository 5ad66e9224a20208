"""P52: a batch of exactly a segment's size is refused."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P52",
    title="A batch of exactly a segment's size is refused",
    source="ours",
    workload="log",
    expected="ProducersLearnOfMistakes",
    edits=(
        Edit(
            module="kraftproof.node.core.partition.validation",
            old="    if batch.size > settings.segment_bytes:",
            new="    if batch.size >= settings.segment_bytes:",
        ),
    ),
)
