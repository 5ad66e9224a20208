"""H9: an entry of one address holds for every address."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="H9",
    title="The host of an entry is not compared",
    source="KIP-11 (hosts)",
    expected="AnswersFollowEntries",
    edits=(
        Edit(
            module="kraftproof.node.core.security.authorizer",
            old="entry.host in {host, WILDCARD}",
            new="bool(host)",
        ),
    ),
)
