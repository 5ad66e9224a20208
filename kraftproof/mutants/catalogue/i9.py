"""I9: a resource that DescribeConfigs names twice is answered once."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="I9",
    title='A resource that DescribeConfigs names twice is answered once',
    source='ours',
    expected="AnswersFitRequests",
    edits=(
        Edit(
            module='kraftproof.node.core.broker.configs',
            old="""for resource in request.resources
""",
            new="""for resource in dict.fromkeys(request.resources)
""",
        ),
    ),
)
