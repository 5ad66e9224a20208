"""S9: the connection time-out of a Forward ends a later connection of the lane."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="S9",
    title="The connection time-out of a Forward ends a later connection of the lane",
    source="ours",
    expected="ShellKeepsContract",
    edits=(
        Edit(
            module="kraftproof.node.shell.peer_lanes",
            old=(
                "        if connection is self._connection and not connection.is_established:\n"
                "            self.drop()\n"
            ),
            new=(
                "        if self._connection is not None and not connection.is_established:\n"
                "            self.drop()\n"
            ),
        ),
    ),
)
