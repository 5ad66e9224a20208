"""A19b: a minority commits."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="A19b",
    title="The high watermark is what a minority has flushed",
    source="a class",
    expected="CommitNeedsMajority",
    kafka="killed",
    edits=(
        Edit(
            module="kraftproof.node.core.raft.quorum",
            old="""    descending = sorted(flushed, reverse=True)
    return descending[majority(len(descending)) - 1]""",
            new="""    descending = sorted(flushed, reverse=True)
    return descending[max(majority(len(descending)) - 2, 0)]""",
        ),
    ),
)
