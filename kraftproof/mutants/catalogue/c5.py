"""C5: a partition has a broker twice among its replicas."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="C5",
    title="A partition has a broker twice among its replicas",
    source="ours; Kafka's ReplicaPlacer",
    expected="ControllerConforms",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.placement",
            old="        return tuple(turned[place] for place in order[:count])",
            new="        return tuple(turned[place // 2] for place in order[:count])",
        ),
    ),
)
