"""I4: a frame that arrives together with an earlier frame waits for further bytes."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="I4",
    title="A frame that arrives together with an earlier frame waits for further bytes",
    source="ours; the class of framing faults",
    expected="AnswersComeOnceInOrder",
    edits=(
        Edit(
            module="kraftproof.node.wire.frames",
            old="""            position = end
""",
            new="""            position = end
            break
""",
        ),
    ),
)
