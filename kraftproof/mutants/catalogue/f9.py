"""F9: the slices of a snapshot do not renew the fetch time-out."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="F9",
    title="A slice of a snapshot does not renew the fetch time-out, so a slow copy ends early",
    source="ours; KIP-630 (FetchSnapshot), 595-51",
    expected="ElectionTimeoutsHonoured",
    kind="L",
    edits=(
        Edit(
            module="kraftproof.node.core.raft.snapshots.download",
            old="""        state = self._state
        state.renew_fetch_timeout(now)
        state.outbox.emit(
            StoreSlice(""",
            new="""        state = self._state
        state.outbox.emit(
            StoreSlice(""",
        ),
    ),
)
