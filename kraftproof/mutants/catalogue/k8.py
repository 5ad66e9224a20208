"""K8: the rest of a flood of requests on a connection is never taken."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="K8",
    title="The rest of a flood of requests on a connection is never taken",
    source="ours; the class of lost wake-ups",
    expected="AnswersComeOnceInOrder",
    kind="L",
    edits=(
        Edit(
            module="kraftproof.node.server.connection",
            old=(
                "            if self._payloads:\n"
                "                self._owner.call_soon(self._go_on)\n"
            ),
            new=(
                "            if self._payloads and self._paused:\n"
                "                self._owner.call_soon(self._go_on)\n"
            ),
        ),
    ),
)
