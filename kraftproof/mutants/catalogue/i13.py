"""I13: A topic's name may have letters and digits beyond ASCII."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="I13",
    title="A topic's name may have letters and digits beyond ASCII",
    source="ours; Kafka's Topic.validate",
    expected="ControllerConforms",
    edits=(
        Edit(
            module="kraftproof.node.core.metadata.names",
            old="[a-zA-Z0-9._-]",
            new="[\\w.-]",
        ),
    ),
)
