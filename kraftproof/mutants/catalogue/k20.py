"""K20: a shutdown waits for the brokers to pass the moves."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="K20",
    title="A shutdown waits for the brokers to pass the moves",
    source="ours; KIP-631 (Controlled Shutdown)",
    kind="L",
    expected="DecisionsConform",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.sessions",
            old="NO_OFFSET) >= offset",
            new="NO_OFFSET) > offset",
        ),
    ),
)
