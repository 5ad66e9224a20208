"""A31: a flush vouches for what took the place of what it flushed.

By itself it does nothing here, since a node fetches, and so cuts its log, only when all is flushed;
so the first Fetch of an epoch does not wait for that, as one might think that it may.
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
