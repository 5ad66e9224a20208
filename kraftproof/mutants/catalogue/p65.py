"""P65: a deleted log still counts towards its directory."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P65",
    title="A deleted log still counts towards its directory",
    source="ours; KIP-112",
    workload="log",
    expected="ReplicasFollowTheImage",
    edits=(
        Edit(
            module="kraftproof.node.core.partition.replicas",
            old="""            self.directories.count(replica.directory, -1)
            self._outbox""",
            new="            self._outbox",
        ),
        Edit(
            module="kraftproof.node.core.partition.replicas",
            old="""            replica = self._end(log)
""",
            new="""            self._end(log)
""",
        ),
    ),
)
