"""I6: a broker never answers a forwarded request that names no topic."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="I6",
    title='A broker never answers a forwarded request that names no topic',
    source='ours',
    expected="EveryRequestEnds",
    edits=(
        Edit(
            module='kraftproof.node.core.broker.forwarding',
            old="""        self._try(_Forwarded(event, expires), now)
""",
            new="""        if getattr(event.message, "topics", True):
            self._try(_Forwarded(event, expires), now)
""",
        ),
    ),
)
