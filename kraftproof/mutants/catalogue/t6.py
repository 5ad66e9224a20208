"""T6: UpdateFeatures is carried out though it only validates."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="T6",
    title="UpdateFeatures is carried out though it only validates",
    source="ours; KIP-584",
    expected="ControllerConforms",
    workload="credentials",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.features",
            old="""    is_kept = refused is not None or request.validate_only""",
            new="""    is_kept = refused is not None""",
        ),
    ),
)
