"""I5: frames before an incomplete frame stay in the buffer, and are answered again."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="I5",
    title='Frames before an incomplete frame stay in the buffer, and are answered again',
    source='ours; the class of framing faults',
    expected="AnswersFitRequests",
    edits=(
        Edit(
            module='kraftproof.node.wire.frames',
            old="""        del buffer[:position]
""",
            new="""        if position == len(buffer):
            buffer.clear()
""",
        ),
    ),
)
