"""P15: a replica acknowledges records before the fsync, in the profile `durable`."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P15",
    title="A replica acknowledges records before the fsync, in the profile `durable`",
    source="ours; KAFKA-10533 in the data plane",
    workload="log",
    expected="VisibleIsOnTheIsr",
    edits=(
        Edit(
            module="kraftproof.node.core.partition.replica",
            old="index.flushed_offset if self.settings.flushes_each_append else index.end_offset",
            new="index.end_offset",
        ),
    ),
)
