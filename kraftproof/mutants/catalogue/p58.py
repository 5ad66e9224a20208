"""P58: the producers that wait for a block of ids are forgotten when the block comes."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P58",
    title="A block of producer ids comes, and the producers that wait for it get none",
    source="ours; KIP-730, a survivor of seed 8701",
    workload="log",
    expected="ProducerIdsAreGiven",
    edits=(
        Edit(
            module="kraftproof.node.core.broker.data.producer_ids",
            old="""        while self._waiting and self._give(self._waiting[0][0]):
            self._waiting.pop(0)
""",
            new="",
        ),
    ),
)
