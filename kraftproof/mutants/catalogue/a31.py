"""A31: a flush acknowledges records that replaced the flushed records.

In the unchanged node the edit alone has no effect: the node fetches, and therefore truncates its
log, only after a complete flush. The mutant also lets the first Fetch of an epoch skip this wait,
which looks like a harmless optimization.
"""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="A31",
    title="A Flushed that was under way during a truncation counts after it",
    source="ours",
    expected="AcknowledgedIsFlushed",
    edits=(
        Edit(
            module="kraftproof.node.core.raft.fetching",
            old="return state.flushed == state.log.end_offset",
            new="""log = state.log
        return log.last_epoch < state.epoch or state.flushed == log.end_offset""",
        ),
        Edit(
            module="kraftproof.node.core.raft.raft",
            old="""        if event.generation != state.log.generation:
            return
        state.flushed = max(""",
            new="        state.flushed = max(",
        ),
    ),
)
