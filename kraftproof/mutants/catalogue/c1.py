"""C1: a topic lacks its last partition."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="C1",
    title="A topic lacks its last partition",
    source="ours; KIP-4 (CreateTopics)",
    expected="ControllerConforms",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.placement",
            old="""            for index in range(partitions)
""",
            new="""            for index in range(max(partitions - 1, 1))
""",
        ),
    ),
)
