"""H5: the authorizer keeps the image of its first decision."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="H5",
    title="The image of the authorizer is cached",
    source="KIP-801",
    expected="AnswersFollowEntries",
    edits=(
        Edit(
            module="kraftproof.node.core.security.authorizer",
            old="        return self._is_ready\n",
            new="""        if self._is_ready:
            from copy import copy

            self._committed = copy(self._committed)
        return self._is_ready
""",
        ),
    ),
)
