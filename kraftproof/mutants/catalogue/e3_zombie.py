"""E3-zombie: a leader that is ahead of the controller is fenced."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="E3-zombie",
    title="A leader that is ahead of the controller is fenced",
    source="KAFKA-14154 (#12506, 5990471b8ca)",
    workload="log",
    expected="ControllerConforms",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.partitions.isr",
            old="""        return ErrorCode.NOT_CONTROLLER
    if epochs[0] < was""",
            new="""        return ErrorCode.FENCED_LEADER_EPOCH
    if epochs[0] < was""",
        ),
    ),
)
