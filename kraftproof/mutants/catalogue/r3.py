"""R3: bytes from the disk are believed."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="R3",
    title="Recovery checks no checksum of a batch",
    source="ours",
    expected="DamageIsRefused",
    edits=(
        Edit(
            module="kraftproof.node.wire.records.batches",
            old="    if crc32c(whole[_HEAD.size :]) != crc:",
            new="    if crc32c(whole[_HEAD.size :]) == crc + 1:",
        ),
    ),
)
