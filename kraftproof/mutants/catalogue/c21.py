"""C21: an answered topic id is not that of the topic."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="C21",
    title="An answered topic id is not that of the topic",
    source="ours; KIP-516",
    expected="AcknowledgedIsCommitted",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.topics",
            old="_created(topic, topic_id, configs, replicas))",
            new="_created(topic, _new_id(image, random), configs, replicas))",
        ),
    ),
)
