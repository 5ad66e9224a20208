"""C4: the same broker leads every partition of a topic."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="C4",
    title="The same broker leads every partition of a topic",
    source="ours; Kafka's ReplicaPlacer",
    expected="ControllerConforms",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.placement",
            old="""            (*active[index % len(active)], *others[index % len(others)])
""",
            new="""            (*active[0], *others[index % len(others)])
""",
        ),
    ),
)
