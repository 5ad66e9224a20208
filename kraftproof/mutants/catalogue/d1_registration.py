"""D1, the registration's half: an epoch that fences nobody."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="D1-registration",
    title="A new incarnation gets its predecessor's broker epoch, which then fences nobody",
    source="KIP-631; KAFKA-14617 (8c88cdb7186), KIP-903",
    expected="CurrentEpochsOnly",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.brokers",
            old="    written = (_registration(image, request, next_offset),",
            new="""    if registered is not None:
        next_offset = registered.epoch
    written = (_registration(image, request, next_offset),""",
        ),
    ),
)
