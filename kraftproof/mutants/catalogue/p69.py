"""P69: DescribeLogDirs counts the committed bytes of a log only."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P69",
    title="DescribeLogDirs counts the committed bytes of a log only",
    source="ours; KIP-113",
    workload="log",
    expected="PartsMatchReference",
    edits=(
        Edit(
            module="kraftproof.node.core.broker.data.log_dirs",
            old="""index.bytes_between(index.start_offset, index.end_offset)""",
            new="""index.bytes_between(index.start_offset, index.high_watermark)""",
        ),
    ),
)
