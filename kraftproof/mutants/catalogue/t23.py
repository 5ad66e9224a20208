"""T23: a broker takes a report for current although the image has changed the partition since."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="T23",
    title="A replica that leaves and returns in one image is never told again",
    source="ours; KIP-858, a bug of the node that a later image showed",
    expected="ReplicasFollowTheImage",
    edits=(
        Edit(
            module="kraftproof.node.core.broker.data.directory_assignments",
            old="return _Assignment(self._replicas.misplaced[log], partition.partition_epoch)",
            new="return _Assignment(self._replicas.misplaced[log], 0)",
        ),
    ),
)
