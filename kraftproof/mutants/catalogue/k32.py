"""K32: the quota of a default entity is recorded for the empty name."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="K32",
    title="The quota of a default entity is recorded for the empty name",
    source="ours; KIP-546, planted by an engineer who had not seen the checks",
    expected="DecisionsConform",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.quotas",
            old="records.EntityData(entity_type=part.entity_type, entity_name=part.entity_name)",
            new=(
                "records.EntityData("
                'entity_type=part.entity_type, entity_name=part.entity_name or "")'
            ),
        ),
    ),
)
