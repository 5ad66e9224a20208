"""P61: a follower appends the batches that a former leader has sent late."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P61",
    title="A follower appends the batches that a former leader has sent late",
    source="ours; KIP-320",
    workload="log",
    expected="FollowersReachTheirLeader",
    edits=(
        Edit(
            module="kraftproof.node.core.partition.fetcher",
            old="""    follower: Follower
    offset: Offset
""",
            new="""    replica: Replica
    offset: Offset
""",
        ),
        Edit(
            module="kraftproof.node.core.partition.fetcher",
            old="            log: _Asked(replica.follower, replica.index.end_offset,",
            new="            log: _Asked(replica, replica.index.end_offset,",
        ),
        Edit(
            module="kraftproof.node.core.partition.fetcher",
            old="""                replica = self._replicas.get(log)
                state = asked.get(log)
""",
            new="""                state = asked.get(log)
                replica = None if state is None else state.replica
""",
        ),
        Edit(
            module="kraftproof.node.core.partition.fetcher",
            old="                self._take(replica, state.follower, partition, now)",
            new="""                if replica.follower is not None:
                    self._take(replica, replica.follower, partition, now)""",
        ),
        Edit(
            module="kraftproof.node.core.partition.fetcher",
            old="""        replica.follower is state.follower
        and index.end_offset == state.offset""",
            new="""        replica.follower is not None
        and index.end_offset == state.offset""",
        ),
    ),
)
