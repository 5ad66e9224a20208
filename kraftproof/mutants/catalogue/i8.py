"""I8: the number of an unknown tagged field is read as the field's length."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="I8",
    title="The number of an unknown tagged field is read as the field's length",
    source='KIP-482',
    expected="AnswersFitRequests",
    edits=(
        Edit(
            module='kraftproof.node.wire.primitives',
            old="""            self.uvarint()
            self.take(self.uvarint())
""",
            new="""            self.take(self.uvarint())
""",
        ),
    ),
)
