"""C4: all partitions of a topic are led by one broker."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="C4",
    title="All partitions of a topic are led by one broker",
    source="ours; Kafka's ReplicaPlacer",
    expected="ControllerConforms",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.placement",
            old="""            (*active[at % len(active)], *others[at % len(others)])
""",
            new="""            (*active[first], *others[at % len(others)])
""",
        ),
    ),
)
