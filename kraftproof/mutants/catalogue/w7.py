"""W7: two blocks of producer ids overlap."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="W7",
    title="Two blocks of producer ids overlap",
    source="ours; KIP-730",
    expected="ControllerConforms",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.producer_ids",
            old="next_producer_id=first + BLOCK",
            new="next_producer_id=first + BLOCK // 2",
        ),
    ),
)
