"""I3: apiVersions in an unknown version ends the connection instead of getting error 35."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="I3",
    title='ApiVersions in an unknown version ends the connection instead of getting error 35',
    source='KIP-511',
    expected="AnswersFitRequests",
    edits=(
        Edit(
            module='kraftproof.node.server.requests',
            old="""        if api_key == _API_VERSIONS:
            return _unsupported_api_versions(correlation_id, smallest, largest)
""",
            new='',
        ),
    ),
)
