"""T14: Metadata keeps its answers when a broker comes or goes."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="T14",
    title="Metadata keeps its answers when a broker comes or goes",
    source="ours; the class of stale caches",
    expected="ListingsMatchReference",
    edits=(
        Edit(
            module="kraftproof.node.core.broker.metadata",
            old="""            self._brokers = image.brokers
            self._views.clear()
""",
            new="""            self._brokers = image.brokers
""",
        ),
    ),
)
