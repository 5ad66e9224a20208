"""K25: a refused reassignment is answered without the names of its topics."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="K25",
    title="A node that is no controller answers a reassignment without the names of the topics",
    source="ours; KIP-455, a survivor of the generated mutants",
    expected="DecisionsConform",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.refusals",
            old="""            module.ReassignableTopicResponse(
                name=topic.name,
""",
            new="""            module.ReassignableTopicResponse(
""",
        ),
    ),
)
