"""K16: BeginQuorumEpoch names the listener of the leader without its port."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="K16",
    title="BeginQuorumEpoch names the listener of the leader without its port",
    source="ours; KIP-853 (LeaderEndpoints), a survivor of the generated mutants",
    expected="QuorumRequestsAreWhole",
    edits=(
        Edit(
            module="kraftproof.node.core.raft.rpc",
            old="name=endpoint.name, host=endpoint.host, port=endpoint.port",
            new="name=endpoint.name, host=endpoint.host",
        ),
    ),
)
