"""R1: a damaged vote is believed."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="R1",
    title="The checksum of quorum-state is written but not compared",
    source="ours",
    expected="DamageIsRefused",
    edits=(
        Edit(
            module="kraftproof.node.storage.quorum_state",
            old="    if checksum is not None and checksum != _checksum(content):",
            new="    if checksum is not None and checksum is content:",
        ),
    ),
)
