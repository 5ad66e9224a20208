"""P55: a follower names its high watermark as the start of its log."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P55",
    title="A follower names its high watermark as the start of its log",
    source="ours",
    workload="log",
    expected="FollowersTellTheirLogs",
    edits=(
        Edit(
            module="kraftproof.node.core.partition.fetcher",
            old="log_start_offset=replica.index.start_offset,",
            new="log_start_offset=replica.index.high_watermark,",
        ),
    ),
)
