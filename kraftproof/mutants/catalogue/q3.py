"""Q3: a voter names the candidate of its vote as the leader, in its answers and its status."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="Q3",
    title="Status, DescribeQuorum and DescribeCluster name the candidate of the vote as the leader",
    source="ours; KIP-595 (DescribeQuorum)",
    expected="StatusIsAccurate",
    edits=(
        Edit(
            module="kraftproof.node.core.node",
            old="        leader = self._raft.leader\n",
            new="        leader = max(self._raft.leader, self._raft.durable.voted_for)\n",
        ),
        Edit(
            module="kraftproof.node.core.raft.describe",
            old="            leader_id=state.leader,\n",
            new="            leader_id=max(state.leader, state.durable.voted_for),\n",
        ),
        Edit(
            module="kraftproof.node.core.raft.raft",
            old="            leader=state.leader,\n",
            new="            leader=max(state.leader, state.durable.voted_for),\n",
        ),
    ),
)
