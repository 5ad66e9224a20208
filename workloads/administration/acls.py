"""Access control entries: granted and revoked by an administrator, felt by two users.

Each key is a beginning of topic names. Entries are literal or prefixed, allow or deny, of one user
or of all users, so that a denial hides permissions and prefixes overlap. The model is `acls`.
"""

from collections.abc import Sequence
from random import Random
from typing import ClassVar

from typing_extensions import override

from kraftproof.workloads.administration.episodes import Episodes, Step
from kraftproof.workloads.workload import Value

ENDINGS = ("", "a", "ab", "b")
"""The ends of the topics' names: of some names, one is a prefix of another."""
OPERATIONS = ("describe", "describe-configs", "alter")
GRANTED = (*OPERATIONS, "all")
REVOKE_SHARE = 0.4
DENY_SHARE = 0.25
PREFIX_SHARE = 0.4
EVERYBODY = "*"


class Acls(Episodes):
    """Entries come and go: finds lost entries, old answers and wrong decisions."""

    name: ClassVar[str] = "acls"
    model: ClassVar[str] = "acls"

    def __init__(self) -> None:
        super().__init__()
        self._users: tuple[str, ...] = ()
        self._granted: dict[str, list[Value]] = {}

    @override
    def prepared(self, run_id: str) -> Sequence[str]:
        self._users = (f"ann-{run_id}", f"bob-{run_id}")
        return self._users

    @override
    def change(self, random: Random, key: str) -> Step:
        granted = self._granted.setdefault(key, [])
        if granted and random.random() < REVOKE_SHARE:
            return "revoke", granted.pop(random.randrange(len(granted)))
        entry = {
            "user": random.choice((*self._users, EVERYBODY)),
            "operation": random.choice(GRANTED),
            "permission": "deny" if random.random() < DENY_SHARE else "allow",
            "pattern": "prefixed" if random.random() < PREFIX_SHARE else "literal",
            "topic": key + random.choice(ENDINGS),
        }
        granted.append(entry)
        return "grant", entry

    @override
    def question(self, random: Random, key: str) -> Step | None:
        asked = {
            "user": random.choice(self._users),
            "operation": random.choice(OPERATIONS),
            "topic": key + random.choice(ENDINGS),
        }
        return "ask", asked
