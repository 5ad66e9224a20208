"""H19: a token that must end at once only expires."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="H19",
    title="A token that must end at once only expires",
    source="KIP-48",
    workload="tokens",
    expected="ControllerConforms",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.security.tokens",
            old=" records.RemoveDelegationTokenRecord(token_id=token.token_id), now_ms",
            new=" _until(token, now_ms), now_ms",
        ),
    ),
)
