"""C1-uncommitted: a read of the active controller shows uncommitted state."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="C1-uncommitted",
    title="A read of the active controller shows uncommitted state",
    source="KAFKA-14457, KAFKA-15048 (#13799)",
    expected="LinearizableReads",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.active",
            old="        while self._pending and self._pending[0].offset < high_watermark:",
            new="""        while self._pending and (
            self._pending[0].offset < high_watermark or not self._pending[0].wrote
        ):""",
        ),
    ),
)
