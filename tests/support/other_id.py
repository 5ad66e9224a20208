"""A node that gives the ninth answer of each connection another id, for `--mutant FILE`."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="other-id",
    title="The ninth answer of a connection has the id of another request",
    source="a test",
    edits=(
        Edit(
            module="kraftproof.node.server.requests",
            old="encode_response_header(header.correlation_id,",
            new="encode_response_header(header.correlation_id + (header.correlation_id == 9),",
        ),
    ),
)
