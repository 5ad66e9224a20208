"""P70: DescribeLogDirs names the uncommitted records as lag."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P70",
    title="DescribeLogDirs names the uncommitted records as lag",
    source="ours; KIP-113",
    workload="log",
    expected="PartsMatchReference",
    edits=(
        Edit(
            module="kraftproof.node.core.broker.data.log_dirs",
            old="""max(index.high_watermark - index.end_offset, 0)""",
            new="""max(index.end_offset - index.high_watermark, 0)""",
        ),
    ),
)
