"""S2: a flush is reported as done when it begins."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="S2",
    title="The shell feeds Flushed back before the fsync has returned",
    source="ours; KAFKA-10533 in the shell",
    expected="AcknowledgedIsFlushed",
    edits=(
        Edit(
            module="kraftproof.node.shell.flush_queue",
            old="self._workers.fsync(fsync, lambda: self._finish(covered), self._on_failure)",
            new="""self._workers.fsync(fsync, lambda: self._finish([]), self._on_failure)
        for flush in covered:
            self._post(
                Flushed(log=flush.log, generation=flush.generation, end_offset=flush.end_offset)
            )""",
        ),
    ),
)
