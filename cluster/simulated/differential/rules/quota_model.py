"""Quotas of clients as a list of all events, without windows in memory (KIP-13, KIP-55)."""

from dataclasses import dataclass, field
from random import Random
from typing import Final

from kraftproof.node.core.metadata.apply import apply_all
from kraftproof.node.core.metadata.image import EMPTY_IMAGE, MetadataImage
from kraftproof.node.wire.records import metadata as records

SECOND_NS: Final = 1_000_000_000
MS_NS: Final = 1_000_000
LONGEST_MS: Final = (1 << 31) - 1
USERS: Final = ("u", "v", "")
CLIENTS: Final = ("c", "d", "")
USER, CLIENT, IP = "user", "client-id", "ip"
CONNECTIONS: Final = "connection_creation_rate"
BOUNDS: Final = (1.0, 2.0, 8.0, 1024.0, 0.0, -1.0)
"""Powers of two, with which every quotient is exact; no quota is below or at 0."""
ADDRESSES: Final = ("10.0.0.1", "::1", "1::1", "host")
NOTATIONS: Final = {
    "10.0.0.1": ("10.0.0.1", "::ffff:10.0.0.1", "::ffff:a00:1"),
    "::1": ("::1", "0:0:0:0:0:0:0:1"),
    "1::1": ("1::1", "0001::0001"),
    "host": ("host",),
}
Quota = tuple[dict[str, str | None], dict[str, float]]
"""The names of an entity by type, and the values by key."""
Budget = tuple[str | None, str | None]


def draw_quotas(random: Random, keys: tuple[str, ...]) -> list[Quota]:
    """Return the quotas of users, clients and addresses, each entity once."""
    found: dict[tuple[tuple[str, str | None], ...], Quota] = {}
    for _ in range(random.randint(1, 10)):
        kind = random.randrange(4)
        names: dict[str, str | None] = {}
        if kind in {0, 2}:
            names[USER] = random.choice((*USERS, None, None))
        if kind in {1, 2}:
            names[CLIENT] = random.choice((*CLIENTS, None, None))
        if kind == 3:
            address = random.choice((*ADDRESSES, None))
            names[IP] = None if address is None else random.choice(NOTATIONS[address])
        of_kind = [key for key in keys if (key == CONNECTIONS) == (IP in names)]
        chosen = [key for key in of_kind if random.random() < 0.7] or of_kind[:1]
        values = {key: random.choice(BOUNDS) for key in chosen}
        usual = tuple(sorted(names.items(), key=repr))
        found[usual] = (names, values)
    return list(found.values())


def image_of(quotas: list[Quota]) -> MetadataImage:
    """Return an image with the quotas."""
    written = [
        records.ClientQuotaRecord(
            entity=tuple(
                records.EntityData(entity_type=kind, entity_name=name)
                for kind, name in sorted(names.items())
            ),
            key=key,
            value=value,
        )
        for names, values in quotas
        for key, value in values.items()
    ]
    return apply_all(EMPTY_IMAGE, tuple(written))


def bound_of(quotas: list[Quota], key: str, user: str, client: str) -> tuple[float, Budget] | None:
    """Return the bound of a client and the clients that share it; None without a quota.

    The entity that names the user comes first, then the default user, then an entity without a
    user. Among these the client id decides in the same way.
    """
    ranked = []
    for names, values in quotas:
        is_about = names.get(USER, user) in {user, None} and names.get(CLIENT, client) in {
            client,
            None,
        }
        if IP in names or not is_about or values.get(key, 0.0) <= 0:
            continue
        rank = (_rank(names, USER), _rank(names, CLIENT))
        shared = (user if USER in names else None, client if CLIENT in names else None)
        ranked.append((rank, values[key], shared))
    if not ranked:
        return None
    _, bound, shared = max(ranked)
    return bound, shared


def _rank(names: dict[str, str | None], kind: str) -> int:
    if kind not in names:
        return 0
    return 1 if names[kind] is None else 2


@dataclass(slots=True)
class Rate:
    """The values of a budget; each window begins with its first value."""

    windows: int
    window_ns: int
    events: list[tuple[int, float]] = field(default_factory=list)

    def begins(self) -> list[tuple[int, float]]:
        """Return begin and sum of each window since the first value."""
        found: list[tuple[int, float]] = []
        for at, value in self.events:
            if found and at - found[-1][0] < self.window_ns:
                found[-1] = (found[-1][0], found[-1][1] + value)
            else:
                found.append((at, value))
        return found

    def wait_ms(self, bound: float, now: int) -> int:
        """Return the time after which the rate is down at the bound."""
        kept = [one for one in self.begins() if now - one[0] < self.windows * self.window_ns]
        total = sum(value for _, value in kept)
        elapsed = now - kept[0][0] if kept else 0
        whole = elapsed // self.window_ns
        elapsed += max(self.windows - 1 - whole, 0) * self.window_ns
        elapsed = elapsed or self.window_ns
        if total * SECOND_NS <= bound * elapsed:
            return 0
        wait = total / bound * 1000 - elapsed / MS_NS
        return max(1, round(min(wait, LONGEST_MS)))
