"""K11: a step applies four times as many records as it may."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="K11",
    title="A step applies four times as many records as it may",
    source="ours; the class of long steps",
    expected="LargeBatchesTakeSteps",
    kind="L",
    edits=(
        Edit(
            module="kraftproof.node.core.metadata.committed",
            old="""        room = RECORDS_A_STEP
""",
            new="""        room = 4 * RECORDS_A_STEP
""",
        ),
    ),
)
