"""K3: a step applies one batch only."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="K3",
    title="A step applies one batch only",
    source="ours; a survivor of the generated mutants",
    expected="ImagesFollowAtOnce",
    kind="L",
    edits=(
        Edit(
            module="kraftproof.node.core.metadata.committed",
            old="                if self.offset < end:\n",
            new="                if self.offset < high_watermark:\n",
        ),
    ),
)
