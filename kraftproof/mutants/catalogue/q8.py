"""Q8: each repetition of a Vote waits as long as the first."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="Q8",
    title="Each repetition of a Vote and of a BeginQuorumEpoch waits as long as the first",
    source="ours; KIP-595 (Timeouts and Retries), of the kind of survivors of generated mutants",
    expected="ElectionsMatchReference",
    edits=(
        Edit(
            module="kraftproof.node.core.raft.peer_retries",
            old="retry_backoff_ns(timeouts, self._attempts[peer])",
            new="retry_backoff_ns(timeouts, 1)",
        ),
    ),
)
