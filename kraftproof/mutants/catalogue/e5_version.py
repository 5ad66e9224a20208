"""E5-version: a proposal for an older partition epoch is applied."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="E5-version",
    title="A proposal for an older partition epoch is applied",
    source="KAFKA-12367 (a8eda3c7851), KAFKA-12686",
    workload="log",
    expected="ControllerConforms",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.partitions.isr",
            old="""    if epochs[1] < was.partition_epoch:
        return ErrorCode.INVALID_UPDATE_VERSION
""",
            new="",
        ),
    ),
)
