"""C20: metadata hides the first partition of a topic."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="C20",
    title="Metadata hides the first partition of a topic",
    source="ours; KIP-631 (Membership States)",
    expected="ResponsesMatchImage",
    edits=(
        Edit(
            module="kraftproof.node.core.broker.metadata",
            old="for partition in image.partitions_of(topic.topic_id)",
            new="for partition in image.partitions_of(topic.topic_id)[1:]",
        ),
    ),
)
