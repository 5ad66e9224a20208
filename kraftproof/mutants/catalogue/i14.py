"""I14: the client id of a flexible header has a compact length."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="I14",
    title="The client id of a flexible header has a compact length",
    source="ours",
    expected="WireMatchesReference",
    edits=(
        Edit(
            module="kraftproof.node.wire.headers",
            old=(
                "    if header_version >= _WITH_CLIENT_ID:\n"
                "        writer.nullable_string(header.client_id)\n"
                "    if header_version >= _FLEXIBLE_REQUEST:\n"
                "        writer.append(0)\n"
            ),
            new=(
                "    if header_version >= _FLEXIBLE_REQUEST:\n"
                "        writer.compact_nullable_string(header.client_id)\n"
                "        writer.append(0)\n"
                "    elif header_version >= _WITH_CLIENT_ID:\n"
                "        writer.nullable_string(header.client_id)\n"
            ),
        ),
    ),
)
