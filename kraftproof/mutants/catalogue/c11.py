"""C11: the id of a deleted topic is still answered."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="C11",
    title="The id of a deleted topic is still answered",
    source="ours; KIP-516",
    expected="ControllerConforms",
    edits=(
        Edit(
            module="kraftproof.node.core.metadata.changes",
            old="""        topics=image.topics.delete(topic.topic_id),
""",
            new="",
        ),
    ),
)
