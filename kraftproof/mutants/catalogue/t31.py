"""T31: the time limit of an unproven connection ends a proven one."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="T31",
    title="The time limit of an unproven connection ends a proven one",
    source="ours; planted by somebody who had not seen the checks",
    expected="ConnectionsKeepTheirRules",
    edits=(
        Edit(
            module="kraftproof.node.server.listener",
            old="""        timer = self._unproven.pop(id(connection), None)
        if timer is not None:
            timer.cancel()
        connection.limit""",
            new="""        self._unproven.pop(id(connection), None)
        connection.limit""",
        ),
    ),
)
