"""P79: a log that is cut during a flush is not flushed again, so its follower fetches no more."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P79",
    kind="L",
    title="A log that is cut during a flush is not flushed again, and its follower fetches no more",
    source="ours; flush.messages, found by the comparison",
    expected="FollowersMatchReference",
    edits=(
        Edit(
            module="kraftproof.node.core.partition.replica",
            old="self._flush_if_due()  # a flush of the former generation proves nothing",
            new="pass",
        ),
    ),
)
