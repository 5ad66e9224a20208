"""K27: CreateTopics answers only for the topics that its sender may create."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="K27",
    title="CreateTopics does not answer for the topics that its sender may not create",
    source="ours; KIP-590, a survivor of the generated mutants",
    expected="PartsAreAllowedByEntries",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.authorized",
            old="""return replace(answer, topics=(*shown, *denied))""",
            new="""return replace(answer, topics=tuple(shown))""",
        ),
    ),
)
