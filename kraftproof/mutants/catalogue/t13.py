"""T13: the heartbeat of an older process renews the lease, if the heartbeat asks for nothing."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="T13",
    title="The heartbeat of an older process renews the lease, if the heartbeat asks for nothing",
    source="ours; KIP-631",
    expected="CurrentEpochsOnly",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.brokers",
            old="if broker is None or request.broker_epoch != broker.epoch:",
            new=(
                "asks = request.want_fence or request.want_shut_down\n"
                "    if broker is None or (asks and request.broker_epoch != broker.epoch):"
            ),
        ),
    ),
)
