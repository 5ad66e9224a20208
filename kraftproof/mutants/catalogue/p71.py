"""P71: DescribeLogDirs has the last partition of each topic only."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P71",
    title="DescribeLogDirs has the last partition of each topic only",
    source="ours; KIP-113",
    workload="log",
    expected="LogDirsMatchFiles",
    edits=(
        Edit(
            module="kraftproof.node.core.broker.data.log_dirs",
            old="""topics.setdefault(replica.topic, []).append(replica)""",
            new="""topics[replica.topic] = [replica]""",
        ),
    ),
)
