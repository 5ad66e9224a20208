"""P17: a joiner may lack records of earlier leaderships."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P17",
    title="A joiner may lack records of earlier leaderships",
    source="ours; KIP-497 (497-09)",
    workload="log",
    expected="JoinersHaveFetched",
    edits=(
        Edit(
            module="kraftproof.node.core.partition.leader",
            old="            and end >= self.epoch_start\n",
            new="",
        ),
    ),
)
