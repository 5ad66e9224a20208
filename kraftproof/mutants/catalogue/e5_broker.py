"""E5-broker: a proposal with a stale broker epoch is judged."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="E5-broker",
    title="A proposal with a stale broker epoch is judged",
    source="KIP-631; KAFKA-14617 (8c88cdb7186)",
    workload="log",
    expected="ControllerConforms",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.partitions.isr",
            old="    if broker is None or broker.epoch != request.broker_epoch:",
            new="    if broker is None:",
        ),
    ),
)
