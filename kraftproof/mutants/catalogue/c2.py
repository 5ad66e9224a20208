"""C2: the configurations of a new topic are not written."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="C2",
    title="The configurations of a new topic are not written",
    source="ours; KIP-4 (CreateTopics)",
    expected="ControllerConforms",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.assignment",
            old="topic_id=topic_id), *set_configs, *partitions)",
            new="topic_id=topic_id), *partitions)",
        ),
    ),
)
