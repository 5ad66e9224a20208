"""H10: a removed credential is still accepted."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="H10",
    title="A removed credential is still accepted",
    source="KIP-554",
    workload="credentials",
    expected="LoginsAreValid",
    edits=(
        Edit(
            module="kraftproof.node.core.security.sasl_state",
            old="""            credential = scram_credential(self._image, user, number)
            return None if credential is None else keys_of(credential)
""",
            new="""            credential = scram_credential(self._image, user, number)
            if credential is None:
                return _SEEN.get(user)
            _SEEN[user] = keys_of(credential)
            return _SEEN[user]
""",
        ),
        Edit(
            module="kraftproof.node.core.security.sasl_state",
            old="""RAW_TOKENS: Final = 0
""",
            new="""_SEEN: dict[str, ScramKeys] = {}
RAW_TOKENS: Final = 0
""",
        ),
    ),
)
