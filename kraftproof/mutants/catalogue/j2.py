"""J2: a failed log directory takes the replicas of every directory offline."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="J2",
    title="A failed log directory takes the replicas of every directory offline",
    source="KIP-112",
    workload="log",
    expected="OnlyFailedAreOffline",
    edits=(
        Edit(
            module="kraftproof.node.core.partition.replicas",
            old="            if replica.directory == directory:\n                self._end(log)",
            new="            if replica.directory:\n                self._end(log)",
        ),
    ),
)
