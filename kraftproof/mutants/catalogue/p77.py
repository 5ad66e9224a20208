"""P77: a mapping rule applies to a name of which its pattern matches only the begin."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P77",
    title="A mapping rule applies to a name of which its pattern matches only the begin",
    source="ours; KIP-371",
    expected="LoginsMatchReference",
    edits=(
        Edit(
            module="kraftproof.node.core.security.mapping_rules",
            old="""re.fullmatch(rule.pattern, name)""",
            new="""re.match(rule.pattern, name)""",
        ),
    ),
)
