"""W1: a reassignment drops the old replicas before the new ones are in sync."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="W1",
    title="A reassignment drops the old replicas before the new ones are in sync",
    source="ours; KIP-455",
    workload="log",
    expected="ControllerConforms",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.partitions.reassignment",
            old="(*replicas, *removing)",
            new="replicas",
        ),
    ),
)
