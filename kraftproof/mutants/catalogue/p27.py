"""P27: the high watermark of a leader falls."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P27",
    title="The high watermark of a leader falls",
    source="ours; KAFKA-3410",
    workload="log",
    expected="CommittedBatchesAgree",
    edits=(
        Edit(
            module="kraftproof.node.core.partition.leader",
            old="        if end <= self._index.high_watermark:\n            return False",
            new="        if end == self._index.high_watermark:\n            return False",
        ),
    ),
)
