"""T19: a broker that waits to ask for a controller's versions is not woken for the question."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="T19",
    title="A broker is not woken to ask again for the versions of its controller",
    source="ours; KIP-590, of the kind of generated mutants that no comparison reached",
    expected="BrokersMatchReference",
    edits=(
        Edit(
            module="kraftproof.node.core.broker.broker",
            old="            self._versions.deadline(),\n",
            new="",
        ),
    ),
)
