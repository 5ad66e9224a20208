"""I13: an answer that its version can't carry: Metadata 10 and 11 by topic id."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="I13",
    title="An answer that its version can't carry: Metadata 10 and 11 by topic id",
    source='this node, before the random requests',
    expected="AnswersFitRequests",
    edits=(
        Edit(
            module='kraftproof.node.core.broker.answers',
            old="""    elif version < _TOPIC_IDS_FROM and any(map(_has_id, request.topics or ())):
        topics = tuple(map(_refused_topic, request.topics or ()))
""",
            new='',
        ),
    ),
)
