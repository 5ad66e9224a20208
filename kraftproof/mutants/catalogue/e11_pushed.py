"""E11-pushed: each heartbeat pushes the end of a controlled shutdown further."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="E11-pushed",
    title="Each heartbeat pushes the end of a controlled shutdown further",
    source="KAFKA-14292 (0cb1d614136)",
    kind="L",
    expected="HeartbeatRequestsHonoured",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.sessions",
            old="        if known is None or known[0] != broker.epoch:",
            new="        if known is None or known[1] <= last_offset:",
        ),
    ),
)
