"""H3: the longest prefix hides the shorter prefixes."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="H3",
    title="Only the longest prefix of a name is looked up",
    source="KIP-290 (prefixed entries)",
    expected="AnswersFollowEntries",
    edits=(
        Edit(
            module="kraftproof.node.core.metadata.acl_index",
            old="""        for length in self.lengths.get(kind, _NO_LENGTHS):
""",
            new="""        for length in sorted(self.lengths.get(kind, _NO_LENGTHS))[-1:]:
""",
        ),
    ),
)
