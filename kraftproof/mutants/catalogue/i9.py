"""I9: A topic that a request names twice is created twice."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="I9",
    title="A topic that a request names twice is created twice",
    source="ours; KIP-4 (CreateTopics)",
    expected="ControllerConforms",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.topics",
            old="""        if count > 1 or name == METADATA_TOPIC
""",
            new="""        if name == METADATA_TOPIC
""",
        ),
    ),
)
