"""T12: a broker opens its listeners when it is registered."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="T12",
    title="A broker opens its listeners when it is registered",
    source="KIP-631 (Broker State Machine)",
    expected="BrokersServeAfterCatchUp",
    edits=(
        Edit(
            module="kraftproof.node.core.broker.membership",
            old="caught_up = self._epoch is not None and self._committed.offset > self._epoch",
            new="caught_up = self._epoch is not None",
        ),
    ),
)
