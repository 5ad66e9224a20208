"""P31: strays of a former life of the broker stay."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P31",
    title="Strays of a former life of the broker stay",
    source="ours; KAFKA-14616",
    kind="L",
    workload="log",
    expected="PartitionsHeal",
    edits=(
        Edit(
            module="kraftproof.node.core.partition.replicas",
            old="            if log.partition not in ours.get(log.topic_id, ()):",
            new="            if log.partition not in ours.get(log.topic_id, (log.partition,)):",
        ),
    ),
)
