"""I2: the sign of a correlation id is lost in the answer."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="I2",
    title="The sign of a correlation id is lost in the answer",
    source="ours; the class of wrong correlation ids",
    expected="AnswersComeOnceInOrder",
    edits=(
        Edit(
            module="kraftproof.node.server.requests",
            old="encode_response_header(header.correlation_id, response_version)",
            new="encode_response_header(header.correlation_id & 0x7FFFFFFF, response_version)",
        ),
    ),
)
