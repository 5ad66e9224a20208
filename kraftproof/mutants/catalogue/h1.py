"""H1: the controller judges a forwarded request by the rights of the broker."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="H1",
    title="The principal of the client is lost in the Envelope",
    source="KIP-590 (590-04)",
    expected="AnswersFollowEntries",
    edits=(
        Edit(
            module="kraftproof.node.core.security.authorizer",
            old="""        requester = Requester(event.principal, event.client_host)
        return self._decide(""",
            new="""        sender = event.forwarded_by or event.principal
        requester = Requester(sender, event.client_host)
        return self._decide(""",
        ),
    ),
)
