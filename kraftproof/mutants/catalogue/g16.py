"""G16: A broker waits ten sessions for the grant of its shutdown."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="G16",
    title="A broker waits ten sessions for the grant of its shutdown",
    source="ours; KIP-631 (Controlled Shutdown)",
    expected="ShutdownsEnd",
    edits=(
        Edit(
            module="kraftproof.node.core.broker.membership",
            old="self._stop_by = self._later(now, self._config.timeouts.session_ns)",
            new="self._stop_by = self._later(now, 10 * self._config.timeouts.session_ns)",
        ),
    ),
)
