"""P21: the end of an epoch is off by one."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P21",
    title="The end of an epoch is off by one",
    source="ours; KIP-101",
    workload="log",
    expected="EpochEndsAreTrue",
    edits=(
        Edit(
            module="kraftproof.node.core.partition.epoch_cache",
            old="""        end = self._entries[after].start_offset
""",
            new="""        end = Offset(self._entries[after].start_offset + 1)
""",
        ),
    ),
)
