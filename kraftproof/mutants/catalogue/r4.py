"""R4: damage in the first batch of the last segment counts as a torn write."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="R4",
    title="Damage in the first batch of the last segment counts as a torn write",
    source="ours; a survivor of the generated mutants",
    expected="DamageIsRefused",
    edits=(
        Edit(
            module="kraftproof.node.wire.records.batches",
            old="_sound_batch_in(view[position + 1 :])",
            new="_sound_batch_in(view[position - 1 :])",
        ),
    ),
)
