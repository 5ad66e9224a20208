"""A32: a leader that stops names its successors the wrong way round."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="A32",
    title="EndQuorumEpoch names that successor first which is furthest behind",
    source="ours",
    kind="L",
    expected="PreferredSuccessorIsCaughtUp",
    edits=(
        Edit(
            module="kraftproof.node.core.raft.replicas",
            old="key=lambda peer: (-self.voters[peer].acknowledged, peer)",
            new="key=lambda peer: (self.voters[peer].acknowledged, peer)",
        ),
    ),
)
