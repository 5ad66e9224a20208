"""I7: A request without a client id is refused."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="I7",
    title="A request without a client id is refused",
    source="ours; Kafka's RequestHeader.json (ClientId)",
    expected="AnswersComeOnceInOrder",
    edits=(
        Edit(
            module="kraftproof.node.wire.headers",
            old="client_id = reader.nullable_string() if",
            new="client_id = reader.string() if",
        ),
    ),
)
