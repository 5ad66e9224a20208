"""Compare meta.properties, quorum-state and partition.metadata with Kafka's texts of the files."""

import json
import re
from random import Random
from typing import Any, Final
from zlib import crc32

from kraftproof.cluster.simulated.differential.difference import (
    Refusal,
    attempt,
    check,
    named,
    refused,
    same,
)
from kraftproof.cluster.simulated.differential.storage.files import crashed, put
from kraftproof.cluster.simulated.disk.filesystem import SimulatedFileSystem
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.base.types import Epoch, NodeId
from kraftproof.node.storage import meta_properties, quorum_state
from kraftproof.node.storage.errors import StorageError
from kraftproof.node.storage.partitions import partition_metadata
from kraftproof.node.wire.types import Uuid, format_uuid

CLUSTERS: Final = ("AAAAAAAAAAAAAAAAAAAAAA", "abcdefghijklmnopqrst-_")
META: Final = "/a/meta.properties"
STATE: Final = "/a/quorum-state"


def compare_identity_files(random: Random) -> None:
    """Write, read and damage the files that say whose directory it is.

    Raises:
        DifferenceError: the node has another result than the reference.
    """
    _compare_meta(random)
    _compare_wrong_meta(random)
    _compare_directories(random)
    _compare_formatted(random)
    _compare_state(random)
    _compare_wrong_state(random)
    _compare_topic_ids(random)


def _disk() -> SimulatedFileSystem:
    disk = SimulatedFileSystem()
    for name in ("/a", "/b", "/c"):
        disk.make_directory(name)
    disk.fsync_directory("/")
    return disk


def _uuid(random: Random) -> Uuid:
    return Uuid(b"\1" + random.randbytes(15))


def _compare_meta(random: Random) -> None:
    disk, has_id = _disk(), random.random() < 0.7
    others = {"future.key": "a=b"} if random.random() < 0.5 else {}
    meta = meta_properties.MetaProperties(
        cluster_id=random.choice(CLUSTERS),
        node_id=NodeId(random.choice((0, 7, (1 << 31) - 1))),
        directory_id=_uuid(random) if has_id else None,
        others=others,
    )
    meta_properties.write_meta_properties(disk, "/a", meta)
    lines = crashed(disk, random).read(META).decode().splitlines()
    expected = {"version=1", f"cluster.id={meta.cluster_id}", f"node.id={meta.node_id}"}
    expected |= {f"{key}={value}" for key, value in others.items()}
    if meta.directory_id is not None:
        expected.add(f"directory.id={format_uuid(meta.directory_id)}")
    same("meta.properties", {line for line in lines if line and line[0] != "#"}, expected)
    same("the identity of a directory", meta_properties.read_meta_properties(disk, "/a"), meta)
    drawn = sorted(expected)
    random.shuffle(drawn)
    spaced = [f"  {line.replace('=', ' = ', 1)} " for line in drawn]
    spaced = [spaced[0], "# a=b", "!c=d", "", "version=", *spaced, "odd"]
    spaced = [line.replace("cluster.id", "cluster.\\\n   id") for line in spaced]
    put(disk, META, "\n".join(spaced).encode())
    found = meta_properties.read_meta_properties(disk, "/a")
    others = {**others, "odd": ""}
    same("an edited meta.properties", (found.cluster_id, found.others), (meta.cluster_id, others))
    same(
        "an edited identity", (found.node_id, found.directory_id), (meta.node_id, meta.directory_id)
    )


def _compare_wrong_meta(random: Random) -> None:
    disk = _disk()
    read = meta_properties.read_meta_properties
    text = refused("no meta.properties", StorageError, read, disk, "/a")
    named("no meta.properties", text, META, "format")
    right = {"version": "1", "cluster.id": random.choice(CLUSTERS), "node.id": "3"}
    wrong = (
        ("version", ("0", "2", "", None)),
        ("cluster.id", ("A" * 21, "A" * 23, "A" * 21 + "+", "", None)),
        ("node.id", ("-1", "", "x", "12345678901", None)),
        ("directory.id", ("A" * 22, "A" * 20 + "BA", "x", "")),
    )
    for key, values in wrong:
        for value in values:
            pairs = {**right, key: value}
            lines = [f"{name}={one}\n" for name, one in pairs.items() if one is not None]
            put(disk, META, "".join(lines).encode())
            text = refused(f"{key}={value}", StorageError, read, disk, "/a")
            named(f"{key}={value}", text, META, key)
    put(disk, META, b"version=1\n\xff\xfe")
    named("no text", refused("no text", StorageError, read, disk, "/a"), META)
    same("the first free id", [meta_properties.is_reserved(_small(n)) for n in (99, 100)], [1, 0])
    for one in (meta_properties.random_directory_id() for _ in range(3)):
        check("a random id", not format_uuid(one).startswith("-") and int.from_bytes(one) >= 100)


def _small(number: int) -> Uuid:
    return Uuid(number.to_bytes(16, "big"))


def _compare_directories(random: Random) -> None:
    """Format and open several directories, whole, foreign, copied and without ids."""
    disk, cluster, node = _disk(), random.choice(CLUSTERS), NodeId(random.randrange(5))
    meta = meta_properties.MetaProperties(cluster_id=cluster, node_id=node)
    fixed, drawn = _uuid(random), iter([_uuid(random) for _ in range(9)])
    paths, events = ("/a", "/b", "/c"), list[str]()
    fresh = meta_properties.format_directories(
        disk,
        paths[:2],
        meta,
        ids={"/a": fixed},
        draw_id=lambda: next(drawn),
        announce=lambda: events.append("announce"),
        prepare=events.append,
    )
    same("formatted directories", fresh, ["/a", "/b"])
    same("steps of a formatting", events, ["announce", "/a", "/b"])
    again = meta_properties.format_directories
    text = refused("a second formatting", StorageError, again, disk, paths, meta)
    named("a second formatting", text, "/a", "--ignore-formatted")
    check("a refused formatting", not disk.exists("/c/meta.properties"))
    unnamed = meta_properties.MetaProperties(cluster_id=cluster, node_id=node)
    meta_properties.write_meta_properties(disk, "/c", unnamed)
    same("nothing to format", again(disk, paths, meta, ignore_formatted=True), [])
    late = _uuid(random)
    opened = meta_properties.open_directories(disk, paths, node, lambda: late)
    ids = {path: meta_properties.read_meta_properties(disk, path).directory_id for path in paths}
    same("opened directories", (opened.cluster_id, opened.ids), (cluster, ids))
    same("the ids of directories", (ids["/a"], ids["/c"]), (fixed, late))
    same("distinct ids", len(set(ids.values())), 3)
    opening = meta_properties.open_directories
    other = NodeId(node + 1)
    text = refused("another node", StorageError, opening, disk, paths, other, lambda: late)
    named("another node", text, META, f"node.id is {node}", other)
    put(disk, "/c/meta.properties", disk.read(META))
    text = refused("a copied directory", StorageError, opening, disk, paths, node, lambda: late)
    named("a copied directory", text, "/c", "directory.id")
    foreign = meta_properties.MetaProperties(cluster_id="B" * 22, node_id=node)
    meta_properties.write_meta_properties(disk, "/b", foreign)
    text = refused("two clusters", StorageError, opening, disk, paths, node, lambda: late)
    named("two clusters", text, "/b/meta.properties", "B" * 22, cluster, "/a")
    refused("no directory", StorageError, opening, disk, (), node, lambda: late)


def _compare_formatted(random: Random) -> None:
    """Format drawn log directories; several, a single directory or none have an id (KIP-858)."""
    disk, paths = _disk(), tuple(random.sample(("/a", "/b", "/c"), random.randint(1, 3)))
    meta = meta_properties.MetaProperties(
        cluster_id=random.choice(CLUSTERS), node_id=NodeId(random.randrange(5))
    )
    before = paths[: random.randint(0, len(paths))]
    for path in before:
        meta_properties.write_meta_properties(disk, path, meta)
    order = random.sample(paths, len(paths))
    form = meta_properties.format_directories
    if before:
        text = refused("a second formatting", StorageError, form, disk, order, meta)
        first = next(path for path in order if path in before)
        named("a second formatting", text, first, "--ignore-formatted")
    fresh = [path for path in order if path not in before]
    same("new directories", form(disk, order, meta, ignore_formatted=bool(before)), fresh)


def _compare_state(random: Random) -> None:
    disk, cluster, node = _disk(), random.choice(CLUSTERS), NodeId(random.randrange(1, 9))
    read = quorum_state.read_quorum_state
    same("no quorum-state", read(disk, STATE, cluster, node), QuorumState())
    voters = [NodeId(one) for one in random.sample(range(9), 3)]
    for _ in range(2):
        state = QuorumState(
            epoch=Epoch(random.choice((0, 1, (1 << 31) - 1))),
            voted_for=NodeId(random.choice((-1, 0, 7))),
            leader=NodeId(random.choice((-1, 0, 7))),
        )
        quorum_state.write_quorum_state(
            disk, STATE, state, cluster_id=cluster, node_id=node, voter_ids=voters
        )
        content = json.loads(crashed(disk, random).read(STATE))
        checksum = content.pop("crc32")
        expected: dict[str, Any] = {
            "clusterId": cluster,
            "leaderId": state.leader,
            "leaderEpoch": state.epoch,
            "votedId": state.voted_for,
            "appliedOffset": 0,
            "currentVoters": [{"voterId": one} for one in voters],
            "nodeId": node,
            "data_version": 0,
        }
        same("quorum-state", content, expected)
        same("the checksum of quorum-state", checksum, crc32(_json(content)))
        same("the state in quorum-state", read(disk, STATE, cluster, node), state)
        for name in ("crc32", "nodeId", "clusterId"):
            kept = {key: value for key, value in content.items() if key != name}
            put(disk, STATE, _json(kept))  # Kafka writes no checksum and no node id
            same(f"quorum-state without {name}", read(disk, STATE, cluster, node), state)


def _json(content: dict[str, Any]) -> bytes:
    return json.dumps(content, separators=(",", ":")).encode()


def _compare_wrong_state(random: Random) -> None:
    disk, cluster, node = _disk(), CLUSTERS[0], NodeId(3)
    right: dict[str, Any] = {
        "clusterId": cluster,
        "leaderId": 1,
        "leaderEpoch": 2,
        "votedId": -1,
        "nodeId": 3,
        "data_version": 0,
    }
    wrong = (
        ("data_version", (1, None, "0")),
        ("clusterId", (CLUSTERS[1],)),
        ("nodeId", (4, "3")),
        ("leaderId", (-2, 1 << 31, "1", 1.5, True, None)),
        ("leaderEpoch", (-1, 1 << 31, "1", True, None)),
        ("votedId", (-2, 1 << 31, None)),
    )
    read = quorum_state.read_quorum_state
    for name, values in wrong:
        for value in values:
            put(disk, STATE, _json({**right, name: value}))
            what = f"quorum-state with {name} {value!r}"
            named(what, refused(what, StorageError, read, disk, STATE, cluster, node), STATE, name)
    for name in ("leaderId", "leaderEpoch", "votedId"):
        least, limit = (0 if name == "leaderEpoch" else -1), (1 << 31) - 1
        for value in (least, limit):
            put(disk, STATE, _json({**right, name: value}))
            found = attempt(StorageError, read, disk, STATE, cluster, node)
            check(f"quorum-state with {name} {value}", not isinstance(found, Refusal))
    for content in (b"", b"{", b"[]", b"1", _json(right)[:-1], _json({**right, "crc32": 5})):
        put(disk, STATE, content)
        text = refused(str(content), StorageError, read, disk, STATE, cluster, node)
        named(str(content), text, STATE)


def _compare_topic_ids(random: Random) -> None:
    disk, topic_id, path = _disk(), _uuid(random), "/a/partition.metadata"
    same("no partition.metadata", partition_metadata.read_topic_id(disk, "/a"), None)
    partition_metadata.write_topic_id(disk, "/a", topic_id)
    text = format_uuid(topic_id)
    lines = re.split(r"\s*\n\s*", disk.read(path).decode().strip())
    same("partition.metadata", lines, ["version: 0", f"topic_id: {text}"])
    for content, expected in (
        (f"version: 0\ntopic_id: {text}\n", topic_id),
        (f"version:0\r\ntopic_id:{text}", topic_id),
        (f"version: 1\ntopic_id: {text}\n", None),
        (f"version: 0\ntopic_id: {text[:-1]}\n", None),
        (f"version: 0\ntopic_id: {text[:-1]}!\n", None),
        ("version: 0\n", None),
        ("", None),
    ):
        put(disk, path, content.encode())
        same(f"the id in {content!r}", partition_metadata.read_topic_id(disk, "/a"), expected)
