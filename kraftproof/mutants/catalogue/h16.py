"""H16: a connection goes on although its client must wait."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="H16",
    title="A connection goes on although its client must wait",
    source="KIP-219",
    workload="quotas",
    expected="quotas/muted",
    edits=(
        Edit(
            module="kraftproof.node.shell.request_table",
            old="""        if throttle_ms > 0 and event.forwarded_by is None:
""",
            new="""        if throttle_ms > 60_000 and event.forwarded_by is None:
""",
        ),
    ),
)
