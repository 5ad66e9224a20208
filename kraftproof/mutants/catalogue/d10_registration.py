"""D10-registration: a broker of another cluster is registered."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="D10-registration",
    title="A broker of another cluster is registered",
    source="KAFKA-13528, KAFKA-10817, KAFKA-12440",
    expected="ForeignClusterIdRefused",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.brokers",
            old="""    if request.cluster_id != cluster_id:
        refused = ErrorCode.INCONSISTENT_CLUSTER_ID
    elif broker_id < 0:""",
            new="    if broker_id < 0:",
        ),
    ),
)
