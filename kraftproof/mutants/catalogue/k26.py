"""K26: anybody renews and expires delegation tokens, except for their renewers."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="K26",
    title="Anybody may renew a delegation token, except for its renewers",
    source="ours; KIP-48, a survivor of the generated mutants",
    expected="DecisionsConform",
    edits=(
        Edit(
            module="kraftproof.node.core.security.tokens",
            old="""name == token.owner or name in token.renewers""",
            new="""name == token.owner or name not in token.renewers""",
        ),
    ),
)
