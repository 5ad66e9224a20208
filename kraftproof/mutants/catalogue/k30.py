"""K30: DescribeConfigs shows the value of an unknown configuration with a secret."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="K30",
    title="DescribeConfigs shows the value of an unknown configuration that is named secret",
    source="ours; KIP-226, a survivor of the generated mutants",
    expected="RulesMatchReference",
    edits=(
        Edit(
            module="kraftproof.node.core.broker.configs",
            old='("password", "secret", "jaas", "keystore.key")',
            new='("password", "jaas", "keystore.key")',
        ),
    ),
)
