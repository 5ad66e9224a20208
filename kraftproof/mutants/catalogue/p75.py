"""P75: a broker asks the controller for no topic that a client names."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P75",
    title="A broker asks the controller only for topics whose creation is under way already",
    source="ours; KIP-590, a survivor of the generated mutants",
    expected="RulesMatchReference",
    edits=(
        Edit(
            module="kraftproof.node.core.broker.auto_creation",
            old="""for name in dict.fromkeys(names) if name not in self._under_way]""",
            new="""for name in dict.fromkeys(names) if name in self._under_way]""",
        ),
    ),
)
