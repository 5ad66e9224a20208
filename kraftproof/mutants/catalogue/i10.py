"""I10: after a refused topic of a batch the topics behind it are not tried."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="I10",
    title='After a refused topic of a batch the topics behind it are not tried',
    source='ours',
    expected="AnswersFitRequests",
    edits=(
        Edit(
            module='kraftproof.node.core.controller.topics',
            old="""            results.append(_not_created(topic.name, refused))
            continue
""",
            new="""            results.append(_not_created(topic.name, refused))
            break
""",
        ),
    ),
)
