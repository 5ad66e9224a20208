"""I1: an answer is sent as soon as it is ready, past earlier requests of its connection."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="I1",
    title="An answer is sent as soon as it is ready, past earlier requests of its connection",
    source='the class of pipelining faults; Kafka\'s protocol guide, "Network"',
    expected="AnswersComeOnceInOrder",
    edits=(
        Edit(
            module="kraftproof.node.server.connection",
            old="""        while self._slots and self._slots[0].answer is not None:
            ready.append(self._slots.popleft().answer or b"")
""",
            new="""        for slot in [slot for slot in self._slots if slot.answer is not None]:
            self._slots.remove(slot)
            ready.append(slot.answer or b"")
""",
        ),
    ),
)
