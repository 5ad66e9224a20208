"""H12: an expired token is accepted."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="H12",
    title="An expired token is accepted",
    source="KIP-48",
    workload="tokens",
    expected="LoginsAreValid",
    edits=(
        Edit(
            module="kraftproof.node.core.security.sasl_state",
            old="""        if token is None or secret is None or is_expired(token, self._now.wall):
""",
            new="""        if token is None or secret is None:
""",
        ),
        Edit(
            module="kraftproof.node.core.security.sasl_state",
            old="""        if token is None or owner is None or is_expired(token, now.wall):
""",
            new="""        if token is None or owner is None:
""",
        ),
    ),
)
