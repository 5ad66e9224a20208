"""C7-early: a request is answered before its records have committed."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="C7-early",
    title="A request is answered before its records have committed",
    source="KIP-631 (deferred events)",
    expected="AcknowledgedIsCommitted",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.active",
            old="""            self._pending.append(
                Pending(offset=offset, request=request, reply=outcome.reply, wrote=is_written)
            )""",
            new="""            del offset
            self._outbox.reply(request.event, outcome.reply)""",
        ),
    ),
)
