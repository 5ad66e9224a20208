"""I11: deleteTopics answers the deleted topics only, not the refused topics."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="I11",
    title='DeleteTopics answers the deleted topics only, not the refused topics',
    source='ours',
    expected="AnswersFitRequests",
    edits=(
        Edit(
            module='kraftproof.node.core.controller.topics',
            old="""            results.append(_not_deleted(state, topic))
""",
            new="""            continue
""",
        ),
    ),
)
