"""G14: two racks count as one."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="G14",
    title="Two racks count as one",
    source="ours; KIP-36",
    expected="ControllerConforms",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.placement",
            old="len(set(self._rack_of.values())) > 1",
            new="len(set(self._rack_of.values())) > 2",
        ),
    ),
)
