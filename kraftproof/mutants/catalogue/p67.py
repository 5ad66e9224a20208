"""P67: two look-ups of times may have one token."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P67",
    title="Two look-ups of times may have one token",
    source="ours",
    workload="log",
    expected="LeadersMatchReference",
    edits=(
        Edit(
            module="kraftproof.node.core.broker.data.list_offsets",
            old="""        self._token += 1
""",
            new="""        self._token = len(self._searches) + 1
""",
        ),
    ),
)
