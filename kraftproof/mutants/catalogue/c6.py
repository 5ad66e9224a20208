"""C6: replicas are placed without regard to racks."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="C6",
    title="Replicas are placed without regard to racks",
    source="ours; KIP-36",
    expected="ControllerConforms",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.placement",
            old="        order = sorted(range(len(turned)), key=rounds.__getitem__)",
            new="        order = range(len(turned))",
        ),
    ),
)
