"""P22: a leader serves a follower whose log has diverged."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P22",
    title="A leader serves a follower whose log has diverged",
    source="KIP-101; A15 in the data plane",
    workload="log",
    expected="EpochEndsAreTrue",
    edits=(
        Edit(
            module="kraftproof.node.core.broker.data.fetch_ranges",
            old="        if known.epoch < asked.last_fetched_epoch or known.end_offset < offset:",
            new="        if known.epoch < asked.last_fetched_epoch:",
        ),
    ),
)
