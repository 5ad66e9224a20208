"""W10: alterPartition answers the state before the change."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="W10",
    title="AlterPartition answers the state before the change",
    source="ours; KIP-497",
    workload="log",
    expected="ControllerConforms",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.partitions.isr",
            old="        return _state(now) if is_led_on else",
            new="        return _state(was) if is_led_on else",
        ),
    ),
)
