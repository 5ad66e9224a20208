"""G20: a read waits for the records of other requests."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="G20",
    title="A read waits for the records of other requests",
    source="ours; a survivor of the generated mutants",
    expected="ReadsAreConfirmed",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.barrier",
            old="return bool(self._waiting) and self._in_flight is None",
            new="return bool(self._waiting) and self._in_flight is not None",
        ),
    ),
)
