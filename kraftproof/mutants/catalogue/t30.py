"""T30: a connection takes no further request after its throttle time."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="T30",
    kind="L",
    title="A connection takes no further request after its throttle time",
    source="ours; planted by somebody who had not seen the checks",
    expected="ConnectionsKeepTheirRules",
    edits=(
        Edit(
            module="kraftproof.node.server.connection",
            old="""        self._mutes -= 1
        if self._transport is not None:
            self._go_on()""",
            new="        self._mutes -= 1",
        ),
    ),
)
