"""K24: UpdateFeatures writes the updates that it refuses, and not the updates that it accepts."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="K24",
    title="UpdateFeatures writes refused updates, and acknowledges others without writing them",
    source="ours; KIP-584, a survivor of the generated mutants",
    expected="DecisionsConform",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.features",
            old="    is_kept = refused is not None or request.validate_only",
            new="    is_kept = refused is None or request.validate_only",
        ),
    ),
)
