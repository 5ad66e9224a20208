"""Q1: a leader without a majority goes on, and says that it has resigned."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="Q1",
    title="A leader without a majority states that it has resigned, but leads on",
    source="ours; A8 with a false status",
    expected="StatusIsAccurate",
    edits=(
        Edit(
            module="kraftproof.node.core.raft.state",
            old="        self.transition_count = 0\n",
            new="        self.transition_count = 0\n        self.has_majority = True\n",
        ),
        Edit(
            module="kraftproof.node.core.raft.progress",
            old="""    if now.monotonic >= role.replicas.majority_until:
        state.resign(now)
""",
            new="""    state.has_majority = now.monotonic < role.replicas.majority_until
""",
        ),
        Edit(
            module="kraftproof.node.core.raft.progress",
            old="isinstance(role, Leader) and state.peers else None",
            new="isinstance(role, Leader) and state.peers and state.has_majority else None",
        ),
        Edit(
            module="kraftproof.node.core.raft.describe",
            old="""    if not isinstance(role, Leader):
        return PartitionData(
            partition_index=index,
            error_code=ErrorCode.NOT_LEADER_OR_FOLLOWER,
            leader_id=state.leader,
""",
            new="""    if not isinstance(role, Leader) or not state.has_majority:
        return PartitionData(
            partition_index=index,
            error_code=ErrorCode.NOT_LEADER_OR_FOLLOWER,
            leader_id=NodeId(-1) if isinstance(role, Leader) else state.leader,
""",
        ),
        Edit(
            module="kraftproof.node.core.raft.raft",
            old="            role=state.role.name,\n",
            new="""            role=(
                state.role.name if state.has_majority or not state.is_leader else "resigned"
            ),
""",
        ),
        Edit(
            module="kraftproof.node.core.raft.raft",
            old="            leader=state.leader,\n",
            new="""            leader=(
                state.leader if state.has_majority or not state.is_leader else NodeId(-1)
            ),
""",
        ),
    ),
)
