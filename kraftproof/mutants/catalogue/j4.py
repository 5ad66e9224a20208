"""J4: the controller leaves the leaderships of a failed log directory."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="J4",
    title="The controller leaves the leaderships of a failed log directory",
    source="KIP-858 (OfflineLogDirs)",
    workload="log",
    expected="ControllerConforms",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.partitions.fencing",
            old="    return (*_leave(image, broker.broker_id, affected), record)",
            new="    return (record,)",
        ),
    ),
)
