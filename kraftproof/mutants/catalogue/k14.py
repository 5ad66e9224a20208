"""K14: the records before the last snapshot count towards the next one."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="K14",
    title="The records before the last snapshot count towards the next one",
    source="ours; KIP-631 (Snapshots)",
    kind="L",
    expected="SnapshotsAreDue",
    edits=(
        Edit(
            module="kraftproof.node.core.snapshots",
            old="= records_taken - (-policy.bytes_between // RECORD_ESTIMATE_BYTES)",
            new="= -(-policy.bytes_between // RECORD_ESTIMATE_BYTES)",
        ),
    ),
)
