"""A24b: a weak read barrier."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="A24b",
    title="The read barrier counts acknowledgements that were on their way before the read",
    source="ours: a paused leader wakes with old Fetches in its socket buffers",
    expected="LinearizableReads",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.active",
            old="""            self._barrier.wait(Answer(request, outcome.reply))
            self._raise_barrier(now)""",
            new="""            end_offset = self._raft.log.end_offset
            if self._raft.high_watermark < end_offset:
                offset = Offset(end_offset - 1)
                self._pending.append(
                    Pending(offset=offset, request=request, reply=outcome.reply, wrote=False)
                )
            else:
                self._barrier.wait(Answer(request, outcome.reply))
                self._raise_barrier(now)""",
        ),
    ),
)
