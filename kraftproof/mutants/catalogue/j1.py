"""J1: a heartbeat does not name the failed log directories."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="J1",
    title="A heartbeat does not name the failed log directories",
    source="KIP-858 (OfflineLogDirs)",
    workload="log",
    expected="FailedDirectoriesAreTold",
    edits=(
        Edit(
            module="kraftproof.node.core.broker.membership_requests",
            old="        offline_log_dirs=failed,\n",
            new="        offline_log_dirs=failed[:0],\n",
        ),
    ),
)
