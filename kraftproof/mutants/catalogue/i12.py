"""I12: metadata without a list of topics shows no topic."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="I12",
    title='Metadata without a list of topics shows no topic',
    source="the null array of KAFKA-2073's class",
    expected="AnswersShowTheImage",
    edits=(
        Edit(
            module='kraftproof.node.core.broker.answers',
            old='wants_all = request.topics is None or (version == 0 and not request.topics)',
            new='wants_all = version == 0 and not request.topics',
        ),
    ),
)
