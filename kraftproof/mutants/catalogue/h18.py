"""H18: a broker keeps the first credential of a user."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="H18",
    title="A broker keeps the first credential of a user",
    source="KIP-554",
    workload="credentials",
    expected="credentials/order",
    edits=(
        Edit(
            module="kraftproof.node.core.security.sasl_state",
            old=" else keys_of(credential)",
            new=" else _FIRST.setdefault(user, keys_of(credential))",
        ),
        Edit(
            module="kraftproof.node.core.security.sasl_state",
            old="""RAW_TOKENS: Final = 0
""",
            new="""_FIRST: dict[str, ScramKeys] = {}
RAW_TOKENS: Final = 0
""",
        ),
    ),
)
