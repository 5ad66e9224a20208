"""K9: a connection may have any number of requests in flight."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="K9",
    title="A connection may have any number of requests in flight",
    source="ours; the class of missing back pressure",
    expected="ConnectionsAreBounded",
    kind="L",
    edits=(
        Edit(
            module="kraftproof.node.server.connection",
            old="""MAX_IN_FLIGHT = 100
""",
            new="""MAX_IN_FLIGHT = 10_000
""",
        ),
    ),
)
