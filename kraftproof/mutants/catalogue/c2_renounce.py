"""C2-renounce: a controller that resigns keeps its uncommitted image."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="C2-renounce",
    title="A controller that resigns keeps its uncommitted image",
    source="KAFKA-17608 (68b97705062), KAFKA-13100, KAFKA-13104",
    expected="ImagesAgree",
    edits=(
        Edit(
            module="kraftproof.node.core.metadata.committed",
            old="""        self._staged.clear()
        if self._expected is not None:
            self._expected = None
            self.is_behind""",
            new="""        if self._expected is not None:
            self._expected = None
            self.is_behind""",
        ),
        Edit(
            module="kraftproof.node.core.metadata.committed",
            old="        if staged is not None and staged[0] == batch.epoch:",
            new="        if staged is not None:",
        ),
    ),
)
