"""W5: an unclean election is not noted as the state of the new leader."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="W5",
    title="An unclean election is not noted as the state of the new leader",
    source="KIP-704",
    expected="ControllerConforms",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.partitions.change",
            old="        draft.isr, recovery_state = (leader,), RECOVERING",
            new="        draft.isr = (leader,)",
        ),
    ),
)
