"""F12: a checkpoint states recovery points before the full segments are synced."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="F12",
    title="A checkpoint states recovery points before the full segments are synced",
    source="ours",
    expected="FilesMatchReference",
    edits=(
        Edit(
            module="kraftproof.node.storage.partitions.log_directory",
            old=(
                "        for flush in flushes:\n"
                "            flush()\n"
                "        yield\n"
                "        self._write(RECOVERY_POINT)\n"
            ),
            new=(
                "        self._write(RECOVERY_POINT)\n"
                "        yield\n"
                "        for flush in flushes:\n"
                "            flush()\n"
            ),
        ),
    ),
)
