"""C21: CreateTopics answers a wrong topic id."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="C21",
    title="CreateTopics answers a wrong topic id",
    source="ours; KIP-516",
    expected="AcknowledgedIsCommitted",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.topics",
            old="_created(topic, topic_id, configs, layers, replicas))",
            new="_created(topic, _new_id(image, random), configs, layers, replicas))",
        ),
    ),
)
