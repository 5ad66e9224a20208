"""P76: a login in the last millisecond of its token gets a session without an end."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P76",
    title="A login in the last millisecond of its token gets a session without an end",
    source="ours; KIP-48, found by the comparison",
    expected="LoginsMatchReference",
    edits=(
        Edit(
            module="kraftproof.node.core.security.sasl_state",
            old="""left_ms = max(1, ends_ms""",
            new="""left_ms = max(0, ends_ms""",
        ),
    ),
)
