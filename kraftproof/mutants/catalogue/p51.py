"""P51: the CRC of a produced batch is not checked."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P51",
    title="The CRC of a produced batch is not checked",
    source="ours",
    workload="log",
    expected="ProducersLearnOfMistakes",
    edits=(
        Edit(
            module="kraftproof.node.core.partition.validation",
            old=" or _check_crc(batch)",
            new="",
        ),
    ),
)
