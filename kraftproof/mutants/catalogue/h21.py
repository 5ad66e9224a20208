"""H21: an entry for everybody concerns nobody."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="H21",
    title="An entry for everybody concerns nobody",
    source="KIP-11",
    workload="acls",
    expected="AnswersFollowEntries",
    edits=(
        Edit(
            module="kraftproof.node.core.security.authorizer",
            old="""    return entry.principal in {principal, EVERYONE} and""",
            new="""    return entry.principal in {principal, EVERYONE[:0]} and""",
        ),
    ),
)
