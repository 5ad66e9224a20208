"""H2: an entry that allows wins if it is found before an entry that denies."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="H2",
    title="A permission is looked at before the denials",
    source="KIP-11 (deny first)",
    expected="AnswersFollowEntries",
    edits=(
        Edit(
            module="kraftproof.node.core.security.authorizer",
            old="""        if entry.permission_type == Permission.DENY:
            return False
""",
            new="""        if entry.permission_type == Permission.ALLOW:
            return True
""",
        ),
    ),
)
