"""P30: logs of removed replicas stay."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P30",
    title="Logs of removed replicas stay",
    source="ours; KIP-858, KAFKA-14616",
    kind="L",
    workload="log",
    expected="PartitionsHeal",
    edits=(
        Edit(
            module="kraftproof.node.core.partition.replicas",
            old="            self._outbox.emit(DeleteLog(log=log))\n",
            new="            assert replica.leader is None\n",
        ),
    ),
)
