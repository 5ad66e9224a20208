"""I12: A topic's name may have 250 characters."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="I12",
    title="A topic's name may have 250 characters",
    source="ours; Kafka's Topic.validate",
    expected="ControllerConforms",
    edits=(
        Edit(
            module="kraftproof.node.core.metadata.names",
            old="{1,249}",
            new="{1,250}",
        ),
    ),
)
