"""E1-epoch: a restarted broker may join an ISR by the epoch of its former process."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="E1-epoch",
    title="A restarted broker may join an ISR by the epoch of its former process",
    source="KIP-903, KAFKA-14139",
    workload="log",
    expected="ControllerConforms",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.partitions.isr",
            old=" and member.broker_epoch in {NO_EPOCH, broker.epoch}",
            new=" and member.broker_epoch <= broker.epoch",
        ),
    ),
)
