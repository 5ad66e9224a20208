"""G8: A broker ignores the grant of its shutdown."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="G8",
    title="A broker ignores the grant of its shutdown",
    source="ours; KIP-631 (Controlled Shutdown)",
    expected="HeartbeatsAreAccurate",
    edits=(
        Edit(
            module="kraftproof.node.core.broker.membership",
            old="answer.should_shut_down:",
            new="answer.should_shut_down and not answer.is_fenced:",
        ),
    ),
)
