"""W8: a replica that a reassignment drops is not fenced by a new leader epoch."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="W8",
    title="A replica that a reassignment drops is not fenced by a new leader epoch",
    source="ours; KAFKA-14190 is of this class",
    workload="log",
    expected="ControllerConforms",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.partitions.change",
            old=(
                """    if not set(partition.replicas) <= set(draft.replicas):
        return True
"""
            ),
            new="",
        ),
    ),
)
