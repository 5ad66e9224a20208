"""G7: A heartbeat names the next offset in place of the last one."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="G7",
    title="A heartbeat names the next offset in place of the last one",
    source="ours; KIP-631 (BrokerHeartbeat)",
    expected="HeartbeatsAreAccurate",
    edits=(
        Edit(
            module="kraftproof.node.core.broker.membership_requests",
            old="current_metadata_offset=end - 1",
            new="current_metadata_offset=end",
        ),
    ),
)
