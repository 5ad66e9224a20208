"""A24: no read barrier."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="A24",
    title="The read barrier is dropped: a controller that was replaced answers from the past",
    source="etcd#20418, etcd#741, consul#54, hashicorp/raft#108, jraft#34",
    expected="LinearizableReads",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.active",
            old="""            self._barrier.wait(Answer(request, outcome.reply))
            self._raise_barrier(now)""",
            new="""            self._outbox.reply(request.event, outcome.reply)""",
        ),
    ),
)
