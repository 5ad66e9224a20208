"""I15: LogAppendTime leaves the flag out of the checksum."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="I15",
    title="LogAppendTime leaves the flag out of the checksum",
    source="ours",
    expected="BatchesMatchReference",
    edits=(
        Edit(
            module="kraftproof.node.wire.records.raw_batch",
            old=(
                "        covered = _HEADER.pack(base_offset, length, epoch, magic, 0, *fields)[CRC_BEGIN:]\n"
                "        covered += self.data[HEADER_BYTES:]\n"
                '        crc = crc32c(covered).to_bytes(4, "big")\n'
            ),
            new=(
                "        covered = _HEADER.pack(base_offset, length, epoch, magic, 0, *fields)[CRC_BEGIN:]\n"
                "        covered += self.data[HEADER_BYTES:]\n"
                '        crc = crc32c(self.data[CRC_BEGIN : CRC_BEGIN + 2] + covered[2:]).to_bytes(4, "big")\n'
            ),
        ),
    ),
)
