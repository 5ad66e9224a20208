"""S3: an fsync vouches for what was written after it had begun."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="S3",
    title="A Flush that came while an fsync ran counts as covered by that fsync",
    source="ours; the class of PostgreSQL's fsyncgate and of group commit",
    expected="AcknowledgedIsFlushed",
    edits=(
        Edit(
            module="kraftproof.node.shell.flush_queue",
            old="""            return
        if self._waiting:
""",
            new="""            return
        covered += self._waiting
        self._waiting = []
        if self._waiting:
""",
        ),
    ),
)
