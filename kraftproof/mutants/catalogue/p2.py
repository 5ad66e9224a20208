"""P2: a proposal that may have been applied falls back to the committed ISR."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P2",
    title="A proposal that may have been applied falls back to the committed ISR",
    source="ours; KIP-497 (INVALID_UPDATE_VERSION)",
    workload="log",
    expected="VisibleIsOnTheIsr",
    edits=(
        Edit(
            module="kraftproof.node.core.partition.isr",
            old="    ErrorCode.INVALID_UPDATE_VERSION: AnswerKind.MAYBE_APPLIED,",
            new="    ErrorCode.INVALID_UPDATE_VERSION: AnswerKind.NOT_APPLIED,",
        ),
    ),
)
