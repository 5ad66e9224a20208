"""P28: acks=1 is answered before the fsync, in the profile `durable`."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P28",
    title="acks=1 is answered before the fsync, in the profile `durable`",
    source="ours; flush.messages=1",
    workload="log",
    expected="ProducersAreJudgedByTheLog",
    edits=(
        Edit(
            module="kraftproof.node.core.broker.data.produce",
            old="            if replica.own_end < result.required_offset:",
            new="            if replica.index.end_offset < result.required_offset:",
        ),
    ),
)
