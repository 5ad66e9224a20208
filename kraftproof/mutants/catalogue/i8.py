"""I8: of several unknown tagged fields only the first is skipped."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="I8",
    title="Of several unknown tagged fields only the first is skipped",
    source="ours; KIP-482",
    expected="AnswersComeOnceInOrder",
    edits=(
        Edit(
            module="kraftproof.node.wire.primitives",
            old="""        for _ in range(self.uvarint()):
            self.uvarint()
            self.take(self.uvarint())
""",
            new="""        if self.uvarint():
            self.uvarint()
            self.take(self.uvarint())
""",
        ),
    ),
)
