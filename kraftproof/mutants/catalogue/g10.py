"""G10: all requests to a peer share a connection, behind Fetches that wait."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="G10",
    title="All requests to a peer share a connection, behind Fetches that wait",
    source="ours; the class of head-of-line blocking",
    expected="FetchesGoAlone",
    edits=(
        Edit(
            module="kraftproof.node.shell.peer_lanes",
            old="LaneKind.FETCH if type(effect.message) in _FETCHES else LaneKind.OTHER",
            new="LaneKind.OTHER",
        ),
    ),
)
