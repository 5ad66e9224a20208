"""K31: a broker forwards the creation of a token for another owner, without a look at rights."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="K31",
    title="A broker forwards the creation of a token for an owner on whom its client has no right",
    source="ours; KIP-373, of the kind of generated mutants that no comparison reached",
    expected="BrokersMatchReference",
    edits=(
        Edit(
            module="kraftproof.node.core.broker.broker",
            old="refuse_token_change(event, self._authorizer)",
            new="refuse_token_change(event)",
        ),
    ),
)
