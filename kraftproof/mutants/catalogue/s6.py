"""S6: a request that may have run is refused as one that has not."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="S6",
    title="A Forward whose bytes were sent is reported as unsent",
    source="ours; KIP-590",
    expected="UnsentReachedNobody",
    edits=(
        Edit(
            module="kraftproof.node.shell.peer_lanes",
            old="self._in_flight.lose_all(is_unsent=not connection.is_established)",
            new="self._in_flight.lose_all(is_unsent=True)",
        ),
    ),
)
