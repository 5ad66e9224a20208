"""P46: the epochs of a log are forgotten when its start rises."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P46",
    title="The epochs of a log are forgotten when its start rises",
    source="ours",
    workload="log",
    expected="EpochEndsAreTrue",
    edits=(
        Edit(
            module="kraftproof.node.core.partition.log_index",
            old="        self.epochs.raise_start(offset)\n",
            new="        self.epochs.clear()\n",
        ),
    ),
)
