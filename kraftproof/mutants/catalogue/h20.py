"""H20: a login with a token gets the name of the token."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="H20",
    title="A login with a token gets the name of the token",
    source="KIP-48",
    workload="tokens",
    expected="LoginsAreValid",
    edits=(
        Edit(
            module="kraftproof.node.core.security.sasl_state",
            old="name=owner.name, token_authenticated",
            new="name=token.token_id, token_authenticated",
        ),
    ),
)
