"""P37: a Fetch of a follower wakes no waiting Produce."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P37",
    title="A Fetch of a follower wakes no waiting Produce",
    source="ours; the class of lost wake-ups",
    kind="L",
    workload="log",
    expected="WaitingFetchesAreAnswered",
    edits=(
        Edit(
            module="kraftproof.node.core.broker.data.fetch",
            old="""            if has_moved:
                self._replicas.note_change(replica.log)
        return reads""",
            new="        return reads",
        ),
    ),
)
