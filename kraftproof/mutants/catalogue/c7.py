"""C7: an existing topic is refused with the error of an illegal name."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="C7",
    title="An existing topic is refused with the error of an illegal name",
    source="ours; KIP-4 (CreateTopics)",
    expected="ControllerConforms",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.topics",
            old="raise TopicError(ErrorCode.TOPIC_ALREADY_EXISTS,",
            new="raise TopicError(ErrorCode.INVALID_TOPIC_EXCEPTION,",
        ),
    ),
)
