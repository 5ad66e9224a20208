"""W2: a new target counts the replicas that were being added as present."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="W2",
    title="A new target counts the replicas that were being added as present",
    source="ours; KIP-455",
    workload="log",
    expected="ControllerConforms",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.partitions.reassignment",
            old="""    present = set(was.replicas) - set(was.adding)
    adding""",
            new="""    present = set(was.replicas)
    adding""",
        ),
    ),
)
