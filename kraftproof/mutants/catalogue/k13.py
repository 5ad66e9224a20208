"""K13: a controller that is about to start refuses the waiting requests too early."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="K13",
    title="A controller that is about to start refuses the waiting requests too early",
    source="ours; a survivor of the generated mutants",
    kind="L",
    expected="RefusalsTakeTheirTime",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.controller",
            old="[entry for entry in activating.waiting if entry.is_over(now)]",
            new="[entry for entry in activating.waiting if not entry.is_over(now)]",
        ),
    ),
)
