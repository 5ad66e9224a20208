"""SCRAM credentials: set, replaced and removed by an administrator, tried by logins.

Each key is a user; each password is set once, so that an accepted password names its credential.
The model is `credentials`.
"""

from collections.abc import Sequence
from random import Random
from typing import ClassVar

from typing_extensions import override

from kraftproof.workloads.administration.episodes import Episodes, Step
from kraftproof.workloads.workload import Completion, Outcome

REMOVE_SHARE = 0.35
DESCRIBE_SHARE = 0.2
WRONG_SHARE = 0.1
ITERATIONS = (4096, 4097, 4500, 5000)
"""Numbers of iterations, of which 4096 is the smallest that Kafka takes."""


class Credentials(Episodes):
    """Credentials come and go: finds logins with removed and old passwords."""

    name: ClassVar[str] = "credentials"
    model: ClassVar[str] = "credentials"

    def __init__(self) -> None:
        super().__init__()
        self._passwords: dict[str, list[str]] = {}
        self._has_one: dict[str, bool] = {}

    @override
    def prepared(self, run_id: str) -> Sequence[str]:
        return ()

    @override
    def change(self, random: Random, key: str) -> Step:
        if self._has_one.get(key, False) and random.random() < REMOVE_SHARE:
            return "remove", None
        passwords = self._passwords.setdefault(key, [])
        passwords.append(f"{key}{len(passwords)}")
        return "set", {"password": passwords[-1], "iterations": random.choice(ITERATIONS)}

    @override
    def changed(self, key: str, f: str, completion: Completion) -> None:
        if completion.outcome is Outcome.OK:
            self._has_one[key] = f == "set"

    @override
    def question(self, random: Random, key: str) -> Step | None:
        if random.random() < DESCRIBE_SHARE:
            return "describe", None
        return "login", {"password": self._password(random, key)}

    @override
    def final(self, random: Random, key: str) -> Step | None:
        return "final", {"password": self._password(random, key)}

    def _password(self, random: Random, key: str) -> str:
        """Return a password of the user, most often one of the newest."""
        passwords = self._passwords.get(key)
        if not passwords or random.random() < WRONG_SHARE:
            return "never set"
        return random.choice(passwords[-3:])
