"""Compare what access control entries allow, while entries come and go, with every entry read.

The node keeps an index of its entries, which changes with each record (KIP-801); the reference
reads all entries each time, by the rules of KIP-11 and KIP-290. A right on any resource of a kind
(KIP-679) is an entry that allows, of whose resources no single denial has all.
"""

from collections.abc import Callable, Iterable
from itertools import product
from random import Random
from typing import Final

from kraftproof.cluster.simulated.differential.difference import same
from kraftproof.node.core.metadata.acls import Operation, Pattern, Permission, ResourceKind
from kraftproof.node.core.metadata.apply import apply_all
from kraftproof.node.core.metadata.image import EMPTY_IMAGE
from kraftproof.node.core.security.authorizer import Requester, decide, decide_any
from kraftproof.node.wire.principal import Principal
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.records.batch import Record
from kraftproof.node.wire.types import Uuid

Entry = records.AccessControlEntryRecord
STEPS: Final = 24
QUESTIONS: Final = 4
LETTERS: Final = "ab"
NAMES: Final = tuple("".join(each) for size in (1, 2, 3) for each in product(LETTERS, repeat=size))
LONGER: Final = tuple("".join(each) for size in (4, 5) for each in product(LETTERS, repeat=size))
UNIVERSE: Final = frozenset((*NAMES, *LONGER, "hardcode"))
"""Every name of a resource; Kafka asks for the last one."""
ALL_NAMES, EVERYBODY = "*", "User:*"
KINDS: Final = (ResourceKind.TOPIC, ResourceKind.GROUP)
OPERATIONS: Final = (
    *(Operation.READ, Operation.WRITE, Operation.DESCRIBE, Operation.ALTER, Operation.ALL),
    *(Operation.ALTER_CONFIGS, Operation.DESCRIBE_CONFIGS),
)
STRONGER: Final = {
    Operation.DESCRIBE: {Operation.READ, Operation.WRITE, Operation.DELETE, Operation.ALTER},
    Operation.DESCRIBE_CONFIGS: {Operation.ALTER_CONFIGS},
}
"""The operations of which a right includes a weaker one."""


def compare_entry_decisions(random: Random) -> None:
    """Create and delete entries, and ask for rights after each change.

    Raises:
        DifferenceError: the node has another decision than the reference.
    """
    image, present = EMPTY_IMAGE, list[Entry]()
    for number in range(STEPS):
        written: Record
        if present and random.random() < 0.4:
            gone = present.pop(random.randrange(len(present)))
            written = records.RemoveAccessControlEntryRecord(id=gone.id)
        else:
            written = _draw_entry(random, number)
            present.append(written)
        image = apply_all(image, (written,))
        same("the entries", sorted(image.acls.all_entries(), key=_id), sorted(present, key=_id))
        for _ in range(QUESTIONS):
            kind, name = random.choice(KINDS), random.choice((*NAMES, *NAMES, *LONGER, ALL_NAMES))
            who = Requester(Principal(type="User", name=random.choice("uv")), random.choice("hi"))
            operation, default = random.choice(OPERATIONS[:4]), random.random() < 0.3
            what = f"{operation.name} of {kind.name} {name} for {who.name} at {who.host}"
            found = decide(image.acls, who, operation, kind, name, default=default)
            mine = [entry for entry in present if entry.resource_type == kind]
            same(what, found, _allows(mine, who, operation, name, default=default))
            found = decide_any(image.acls, who, operation, kind, default=default)
            what = f"{operation.name} of any {kind.name} for {who.name} at {who.host}"
            same(what, found, _allows_any(mine, who, operation, default=default))


def _id(entry: Entry) -> bytes:
    return entry.id


def _draw_entry(random: Random, number: int) -> Entry:
    pattern = random.choice((Pattern.LITERAL, Pattern.PREFIXED))
    is_wildcard = pattern == Pattern.LITERAL and random.random() < 0.1
    return Entry(
        id=Uuid(number.to_bytes(16, "big")),
        resource_type=random.choice((*KINDS, KINDS[0])),
        resource_name=ALL_NAMES if is_wildcard else random.choice(NAMES[:8]),
        pattern_type=pattern,
        principal=random.choice(("User:u", "User:u", "User:v", EVERYBODY)),
        host=random.choice((ALL_NAMES, ALL_NAMES, "h")),
        operation=random.choice(OPERATIONS),
        permission_type=random.choice((Permission.ALLOW, Permission.ALLOW, Permission.DENY)),
    )


def _names(entry: Entry) -> frozenset[str]:
    """Return the names of an entry's resources."""
    if entry.pattern_type == Pattern.PREFIXED:
        return frozenset(name for name in UNIVERSE if name.startswith(entry.resource_name))
    return UNIVERSE if entry.resource_name == ALL_NAMES else frozenset({entry.resource_name})


def _is_about(entry: Entry, name: str) -> bool:
    if name == ALL_NAMES:  # a name as another one
        return entry.pattern_type == Pattern.LITERAL and entry.resource_name == ALL_NAMES
    return name in _names(entry)


def _of(who: Requester) -> Callable[[Entry], bool]:
    return lambda entry: (
        entry.principal in {who.name, EVERYBODY} and entry.host in {who.host, ALL_NAMES}
    )


def _allows(
    entries: Iterable[Entry], who: Requester, operation: Operation, name: str, *, default: bool
) -> bool:
    found = [entry for entry in entries if _is_about(entry, name)]
    if not found:
        return default
    own = list(filter(_of(who), found))
    denied = {entry.operation for entry in own if entry.permission_type == Permission.DENY}
    allowed = {entry.operation for entry in own if entry.permission_type == Permission.ALLOW}
    exact = {Operation.ALL, operation}
    return not denied & exact and bool(allowed & (exact | STRONGER.get(operation, set())))


def _allows_any(
    entries: list[Entry], who: Requester, operation: Operation, *, default: bool
) -> bool:
    if _allows(entries, who, operation, "hardcode", default=default):
        return True
    own = [one for one in filter(_of(who), entries) if one.operation in {Operation.ALL, operation}]
    denied = [_names(entry) for entry in own if entry.permission_type == Permission.DENY]
    allowed = [_names(entry) for entry in own if entry.permission_type == Permission.ALLOW]
    return any(not any(names <= gone for gone in denied) for names in allowed)
