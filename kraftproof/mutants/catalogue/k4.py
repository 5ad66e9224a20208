"""K4: a refused request is forwarded again at once."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="K4",
    title="A refused request is forwarded again at once",
    source="ours; KIP-590 (the back-off of retries)",
    expected="ForwardsBackOff",
    kind="L",
    edits=(
        Edit(
            module="kraftproof.node.core.broker.forwarding",
            old="""min(now.monotonic + pause_ns, forwarded.expires)""",
            new="""min(now.monotonic, forwarded.expires)""",
        ),
    ),
)
