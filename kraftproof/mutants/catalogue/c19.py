"""C19: the deletion of a topic by id removes another topic."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="C19",
    title="The deletion of a topic by id removes another topic",
    source="ours; KIP-516",
    expected="ControllerConforms",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.topics",
            old="    return image.topics.get(state.topic_id) or TopicError(",
            new="    return next(iter(image.sorted_topics()), None) or TopicError(",
        ),
    ),
)
