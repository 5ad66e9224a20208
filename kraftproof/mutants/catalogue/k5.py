"""K5: a broker with a stale epoch has the time of its start to register."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="K5",
    title="A broker with a stale epoch has the time of its start to register",
    source="ours; KIP-631 (initial.broker.registration.timeout.ms)",
    expected="NoUnexpectedExit",
    kind="L",
    edits=(
        Edit(
            module="kraftproof.node.core.broker.membership",
            old="""            return
        self._epoch = None
        self._register_by = self._later(""",
            new="""            return
        self._epoch = None
        _ = self._later(""",
        ),
    ),
)
