"""Segments and checkpoint of a node's data directory become rows; torn ends are left out."""

from kraftproof.cluster.systems.kafka.records import Producer, batch_of
from kraftproof.cluster.systems.kafka.replicas import replicas
from kraftproof.node.wire.records.raw_batch import parse_batch


def stored(value, offset, epoch):
    return parse_batch(batch_of(value, 0, Producer())).moved(offset, epoch).data


def test_each_record_is_a_row_with_the_high_watermark(tmp_path):
    folder = tmp_path / "data" / "log-k3f9a-0"
    folder.mkdir(parents=True)
    segments = {
        "00000000000000000000.log": stored(b'"0.0@a"', 0, 4) + stored(b'"0.1@a"   ', 1, 4),
        "00000000000000000002.log": stored(b'"0.2@a"', 2, 5) + stored(b'"0.3@a"', 3, 5)[:70],
    }
    for name, data in segments.items():
        (folder / name).write_bytes(data)
    (tmp_path / "data" / "replication-offset-checkpoint").write_text("0\n1\nlog-k3f9a 0 2\n")
    for hidden in ("__consumer_offsets-0", "gone-0.2f3a-delete", "__cluster_metadata-0"):
        (tmp_path / "data" / hidden).mkdir()
        (tmp_path / "data" / hidden / "00000000000000000000.log").write_bytes(stored(b"x", 0, 1))
    found = replicas(tmp_path, 3)
    assert [(row["offset"], row["epoch"], row["value"]) for row in found] == [
        (0, 4, '"0.0@a"'), (1, 4, '"0.1@a"'), (2, 5, '"0.2@a"'),
    ]  # fmt: skip
    assert {row["high_watermark"] for row in found} == {2}
    assert {(row["node"], row["partition"]) for row in found} == {(3, "log-k3f9a-0")}


def test_without_a_checkpoint_the_high_watermark_is_unknown(tmp_path):
    folder = tmp_path / "t-0"
    folder.mkdir()
    (folder / "00000000000000000000.log").write_bytes(stored(b'"0.0@a"', 0, 1))
    assert [row["high_watermark"] for row in replicas(tmp_path, 1)] == [None]
