"""A25: a sole voter acknowledges records before the flush."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="A25",
    title="A sole voter commits, and answers, before its own fsync",
    source="etcd#14370",
    expected="CommitNeedsMajority",
    edits=(
        Edit(
            module="kraftproof.node.core.raft.raft",
            old="""        state.flush()
        return Offset(batch.last_offset)""",
            new="""        state.flush()
        if not state.peers:
            state.high_watermark = state.log.end_offset
        return Offset(batch.last_offset)""",
        ),
    ),
)
