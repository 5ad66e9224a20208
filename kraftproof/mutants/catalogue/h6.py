"""H6: a denied operation denies the operations that it would imply."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="H6",
    title="DENY READ hides a topic, too",
    source="KIP-11 (implied operations)",
    expected="AnswersFollowEntries",
    edits=(
        Edit(
            module="kraftproof.node.core.security.authorizer",
            old="    return entry.permission_type == Permission.ALLOW and entry.operation",
            new="    return entry.operation",
        ),
    ),
)
