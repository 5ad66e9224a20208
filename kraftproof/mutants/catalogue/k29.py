"""K29: the right to see the tokens of an owner is looked up under the name of the requester."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="K29",
    title="The right to describe the tokens of an owner is looked up under the requester's name",
    source="ours; KIP-373, of the kind of survivors of the generated mutants",
    expected="RulesMatchReference",
    edits=(
        Edit(
            module="kraftproof.node.core.broker.security.answers",
            old="Operation.DESCRIBE_TOKENS, ResourceKind.USER, token.owner, logs=False",
            new="Operation.DESCRIBE_TOKENS, ResourceKind.USER, token.requester, logs=False",
        ),
    ),
)
