"""T11: a refused configuration has no reason."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="T11",
    title="A refused configuration has no reason",
    source="ours; KIP-339",
    expected="RefusalsSayWhy",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.configs.alter",
            old="""            error, reason = refused.error, refused.reason""",
            new="""            error = refused.error""",
        ),
    ),
)
