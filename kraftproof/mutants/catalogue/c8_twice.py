"""C8-twice: a forwarded request whose answer was lost is sent again."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="C8-twice",
    title="A forwarded request whose answer was lost is sent again",
    source="KAFKA-12677 (#10794), KIP-590",
    expected="ForwardsBackOff",
    edits=(
        Edit(
            module="kraftproof.node.core.broker.forwarding",
            old="self._refuse(forwarded, ErrorCode.REQUEST_TIMED_OUT, reason)",
            new="self._wait(forwarded, now)",
        ),
    ),
)
