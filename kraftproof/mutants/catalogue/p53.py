"""P53: a look-up by time begins in the second segment."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P53",
    title="A look-up by time begins in the second segment",
    source="ours",
    workload="log",
    expected="TimesFindRecords",
    edits=(
        Edit(
            module="kraftproof.node.storage.partitions.partition_log",
            old="        return tuple(self._segments[self._segment_of(offset) :])",
            new="        return tuple(self._segments[self._segment_of(offset) + 1 :])",
        ),
    ),
)
