"""G11: A forwarded request waits for a dead controller as long as its client waits."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="G11",
    title="A forwarded request waits for a dead controller as long as its client waits",
    source="ours; KIP-590",
    expected="ForwardsKeepDeadlines",
    edits=(
        Edit(
            module="kraftproof.node.core.broker.forwarding",
            old="connect_ns=min(left_ns, self._config.timeouts.request_ns)",
            new="connect_ns=left_ns",
        ),
    ),
)
