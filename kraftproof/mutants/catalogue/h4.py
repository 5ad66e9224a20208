"""H4: whoever reaches a controller may forward."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="H4",
    title="CLUSTER_ACTION is not asked of the sender of an Envelope",
    source="KIP-590 (590-03)",
    expected="AnswersFollowEntries",
    edits=(
        Edit(
            module="kraftproof.node.core.gate",
            old="    if event.forwarded_by is not None and not authorizer",
            new="    if event.request < 0 and not authorizer",
        ),
    ),
)
