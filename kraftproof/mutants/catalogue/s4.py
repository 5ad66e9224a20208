"""S4: a late answer is taken for another request's."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="S4",
    title="An answer of an earlier connection resumes a later request with the same id",
    source="ours; the class of KAFKA-3042's stale responses",
    expected="AnswersFitRequests",
    edits=(
        Edit(
            module="kraftproof.node.shell.peer_lanes",
            old="""        if connection is not self._connection:
            return  # the request was reported as lost when its connection was given up
""",
            new="",
        ),
    ),
)
