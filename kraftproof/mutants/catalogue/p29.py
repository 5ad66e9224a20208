"""P29: a new leader does not enter its epoch."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P29",
    title="A new leader does not enter its epoch",
    source="KIP-101, KAFKA-7128",
    workload="log",
    expected="EpochEndsAreTrue",
    edits=(
        Edit(
            module="kraftproof.node.core.partition.replica",
            old="        self._note_epoch(partition.leader_epoch)\n",
            new="",
        ),
    ),
)
