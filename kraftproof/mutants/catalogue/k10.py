"""K10: a request without records is answered without the read barrier."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="K10",
    title="A request without records is answered without the read barrier",
    source="ours; KIP-631 (Persistence)",
    expected="LinearizableReads",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.active",
            old="""            self._barrier.wait(Answer(request, outcome.reply))
""",
            new="""            self._outbox.reply(request.event, outcome.reply)
""",
        ),
    ),
)
