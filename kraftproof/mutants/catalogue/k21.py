"""K21: a renewed token is renewed from its present expiry."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="K21",
    title="A renewed token is renewed from its present expiry",
    source="ours; KIP-48",
    expected="DecisionsConform",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.security.tokens",
            old="_milliseconds(context.now.wall) + period_ms)",
            new="token.expiration_timestamp + period_ms)",
        ),
    ),
)
