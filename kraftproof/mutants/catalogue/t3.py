"""T3: new partitions get the number of replicas of before a reassignment."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="T3",
    title="New partitions get the number of replicas of before a reassignment",
    source="ours; KIP-195",
    expected="ControllerConforms",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.partitions.creation",
            old="""    factor = len(present[min(present)].replicas)""",
            new="""    first = present[min(present)]
    factor = len(set(first.replicas) - set(first.adding))""",
        ),
    ),
)
