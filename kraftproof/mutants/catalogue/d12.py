"""D12: sessions by the wall clock."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="D12",
    title="Broker sessions are timed by the wall clock: a step expires all, or none for ever",
    source="tikv#964, nebula#2723, the class of jraft#26",
    expected="FencedInTime",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.sessions",
            old="    return now.monotonic",
            new="    return Monotonic(now.wall)",
        ),
    ),
)
