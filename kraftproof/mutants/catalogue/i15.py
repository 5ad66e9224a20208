"""I15: LogAppendTime keeps the checksum of the batch as it was."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="I15",
    title="LogAppendTime keeps the checksum of the batch as it was",
    source="ours",
    expected="BatchesMatchReference",
    edits=(
        Edit(
            module="kraftproof.node.wire.records.raw_batch",
            old='crc = crc32c(covered).to_bytes(4, "big")',
            new='crc = crc32c(self.data[CRC_BEGIN:]).to_bytes(4, "big")',
        ),
    ),
)
