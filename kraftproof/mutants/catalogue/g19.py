"""G19: the state RECOVERY has the number of RUNNING."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="G19",
    title="The state RECOVERY has the number of RUNNING",
    source="ours; KIP-631 (Broker State Machine), a survivor of the generated mutants",
    expected="BrokerStateIsAccurate",
    edits=(
        Edit(
            module="kraftproof.node.core.broker.lifecycle",
            old="    RECOVERY = 2\n    RUNNING = 3\n",
            new="    RECOVERY = 3\n    RUNNING = 3\n",
        ),
    ),
)
