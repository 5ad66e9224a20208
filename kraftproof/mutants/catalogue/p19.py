"""P19: a Fetch of an earlier process of the follower counts."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P19",
    title="A Fetch of an earlier process of the follower counts",
    source="KIP-903, KAFKA-14139",
    workload="log",
    expected="VisibleIsOnTheIsr",
    edits=(
        Edit(
            module="kraftproof.node.core.broker.data.fetch",
            old="        is_stale = broker_epoch != NO_EPOCH and broker_epoch < registered",
            new="        is_stale = broker_epoch != NO_EPOCH and broker_epoch < min(registered, 0)",
        ),
    ),
)
