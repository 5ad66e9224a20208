"""W3: a preferred election takes a replica that is not in sync."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="W3",
    title="A preferred election takes a replica that is not in sync",
    source="ours; KIP-183",
    workload="log",
    expected="ControllerConforms",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.partitions.change",
            old="        if candidate in draft.isr and may_lead(candidate):",
            new="""        preferred = election is Election.PREFERRED
        if (candidate in draft.isr or preferred) and may_lead(candidate):""",
        ),
    ),
)
