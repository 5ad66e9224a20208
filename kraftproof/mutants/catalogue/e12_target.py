"""E12-target: a broker that is shutting down is given leaderships."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="E12-target",
    title="A broker that is shutting down is given leaderships",
    source="KAFKA-14296 (5cff8f67b06), KAFKA-13858",
    workload="log",
    expected="ControllerConforms",
    edits=(
        Edit(
            module="kraftproof.node.core.metadata.image",
            old="""        return broker is not None and broker.may_lead
""",
            new="""        return broker is not None and not broker.fenced
""",
        ),
    ),
)
