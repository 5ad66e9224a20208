"""K2: a leader answers a Fetch without news at once."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="K2",
    title="A leader answers a Fetch without news at once",
    source="ours; a survivor of the generated mutants",
    expected="FetchesWait",
    kind="L",
    edits=(
        Edit(
            module="kraftproof.node.core.raft.serving",
            old="""            deadline=Monotonic(now.monotonic + wait_ns),
""",
            new="""            deadline=Monotonic(now.monotonic + min(wait_ns, 0)),
""",
        ),
    ),
)
