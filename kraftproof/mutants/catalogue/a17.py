"""A17: a follower truncates committed records."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="A17",
    title="A follower truncates five records too many, below its high watermark if need be",
    source="the invariant in KafkaRaftClient.handleFetchResponse; KAFKA-10761's review",
    expected="HighWatermarkNeverFalls",
    kafka="killed",
    edits=(
        Edit(
            module="kraftproof.node.core.raft.fetching",
            old="""        end_offset = Offset(min(diverging.end_offset, ours.end_offset))
        if end_offset < state.high_watermark:""",
            new="""        end_offset = Offset(min(diverging.end_offset, ours.end_offset) - 5)
        end_offset = max(end_offset, state.log.start_offset)
        if end_offset < 0:""",
        ),
    ),
)
