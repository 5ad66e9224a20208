"""I7: a request without a client id is no request."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="I7",
    title='A request without a client id is no request',
    source='ours; the client id is nullable since version 1 of the header',
    expected="AnswersFitRequests",
    edits=(
        Edit(
            module='kraftproof.node.wire.headers',
            old='reader.nullable_string() if',
            new='reader.string() if',
        ),
    ),
)
