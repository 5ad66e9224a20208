"""C11: the deletion of an unknown topic id is acknowledged."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="C11",
    title="The deletion of an unknown topic id is acknowledged",
    source="ours; KIP-516",
    expected="ControllerConforms",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.topics",
            old="""            results.append(_not_deleted(state, topic))
        elif""",
            new="""            result = _not_deleted(state, topic)
            if topic.error is ErrorCode.UNKNOWN_TOPIC_ID:
                result = DeleteResult(topic_id=state.topic_id)
            results.append(result)
        elif""",
        ),
    ),
)
