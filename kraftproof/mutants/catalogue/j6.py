"""J6: a replica in a failed log directory goes on."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="J6",
    title="A replica in a failed log directory goes on",
    source="KIP-112",
    workload="log",
    expected="OnlyFailedAreOffline",
    edits=(
        Edit(
            module="kraftproof.node.core.partition.replicas",
            old="            if replica.directory == directory:\n                self._end(log)",
            new="            if not replica.directory:\n                self._end(log)",
        ),
    ),
)
