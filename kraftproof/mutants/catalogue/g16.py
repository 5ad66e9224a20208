"""G16: A broker waits for the grant of its shutdown without end."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="G16",
    title="A broker waits for the grant of its shutdown without end",
    source="ours; KIP-631 (Controlled Shutdown)",
    expected="ShutdownsEnd",
    edits=(
        Edit(
            module="kraftproof.node.core.broker.membership",
            old="        if self._stop_by is not None and now.monotonic >= self._stop_by:",
            new="        if self._stop_by is not None and now.monotonic >= 2 * self._stop_by:",
        ),
    ),
)
