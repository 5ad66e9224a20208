"""P54: a control batch of a client is appended."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P54",
    title="A control batch of a client is appended",
    source="ours",
    workload="log",
    expected="ProducersLearnOfMistakes",
    edits=(
        Edit(
            module="kraftproof.node.core.partition.validation",
            old=(
                "    elif batch.is_control:\n"
                '        problem = "a client cannot write control records"\n'
            ),
            new="",
        ),
    ),
)
