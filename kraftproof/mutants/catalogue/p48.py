"""P48: a Fetch of several partitions may get more bytes than it asks for."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P48",
    title="A Fetch of several partitions may get more bytes than it asks for",
    source="ours",
    workload="log",
    expected="AnswersNameTheLog",
    edits=(
        Edit(
            module="kraftproof.node.core.broker.data.fetch",
            old="                max_bytes=most,\n",
            new="",
        ),
    ),
)
