"""H8: requests about topics are done without a right."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="H8",
    title="The parts of a request are not judged at the controller",
    source="KIP-590 (590-04)",
    expected="AnswersFollowEntries",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.authorized",
            old="""    split = _SPLITS.get(type(message))
""",
            new="""    split = _SPLITS.get(type(event))
""",
        ),
    ),
)
