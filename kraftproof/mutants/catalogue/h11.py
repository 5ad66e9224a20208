"""H11: a token is renewed beyond its maximum."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="H11",
    title="A token is renewed beyond its maximum",
    source="KIP-48",
    workload="tokens",
    expected="ControllerConforms",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.security.tokens",
            old="""        expiration_timestamp=min(expiry_ms, token.max_timestamp),
""",
            new="""        expiration_timestamp=expiry_ms,
""",
        ),
    ),
)
