"""E12-stay: a controlled shutdown moves no leadership."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="E12-stay",
    title="A controlled shutdown moves no leadership",
    source="KAFKA-14296 (5cff8f67b06), KAFKA-13858",
    expected="ControllerConforms",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.brokers",
            old="        written = (begins, *(written or leave(image, broker.broker_id)))",
            new="        written = (begins, *written)",
        ),
        Edit(
            module="kraftproof.node.core.controller.brokers",
            old=" and not image.leads_any(broker.broker_id)",
            new="",
        ),
    ),
)
