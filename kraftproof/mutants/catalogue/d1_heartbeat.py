"""D1, the heartbeat's half: a superseded incarnation stays alive."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="D1-heartbeat",
    title="A heartbeat with a superseded broker epoch is accepted",
    source="KIP-631; KAFKA-14617 (8c88cdb7186), KIP-903, crabka#372",
    expected="CurrentEpochsOnly",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.brokers",
            old="if broker is None or request.broker_epoch != broker.epoch:",
            new="if broker is None:",
        ),
    ),
)
