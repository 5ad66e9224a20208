"""T22: a broker tells no directory of a replica again that was told before and has moved."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="T22",
    title="A replica that moves before the image has its first move is never told again",
    source="ours; KIP-858, a bug that searches missed too often",
    expected="ReplicasFollowTheImage",
    edits=(
        Edit(
            module="kraftproof.node.core.broker.data.directory_assignments",
            old="return self._confirmed.get(log) != self._assignment(log)",
            new="return log not in self._confirmed",
        ),
    ),
)
