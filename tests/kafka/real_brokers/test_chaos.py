"""Three real Kafka brokers on three controllers of ours, under kills, pauses and partitions.

`KRAFTPROOF_CHAOS_S=3600 pytest tests/kafka/real_brokers` breaks nodes for an hour.
"""

import asyncio
import os
import re
from collections import Counter
from pathlib import Path
from random import Random

import pytest
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from kraftproof.cluster.protocol import Cluster
from kraftproof.node.wire.records.raw_batch import parse_batches
from tests.kafka.real_brokers.copier import COPIES, ORDERS
from tests.kafka.real_brokers.traffic import (
    BROKERS,
    PARTITIONS,
    Traffic,
    break_nodes,
    read_whole,
    with_real_brokers,
)

pytestmark = [pytest.mark.kafka, pytest.mark.long]
SECONDS = float(os.environ.get("KRAFTPROOF_CHAOS_S", "90"))
OUR_ERRORS = re.compile(
    r"UNKNOWN_SERVER_ERROR|UnknownServer|UnsupportedVersion|InvalidRequest|INVALID_REQUEST|"
    r"SchemaException|fatal fault|Unexpected error|unexpected error"
)
"""What a broker prints if an answer of a controller makes no sense to it."""


def create_topics(bootstrap: str) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    config = {"min.insync.replicas": "2"}
    topics = [NewTopic(name, PARTITIONS, 3, config=config) for name in (ORDERS, COPIES)]
    for made in admin.create_topics(topics).values():
        made.result(60)


def require_once(data: Path) -> None:
    """No log has a batch of a producer twice; librdkafka may send a record in a new epoch again."""
    for directory in data.glob(f"{ORDERS}-*"):
        found = Counter(
            (batch.producer_id, batch.producer_epoch, batch.base_sequence)
            for segment in sorted(directory.glob("*.log"))
            for batch in parse_batches(segment.read_bytes())
            if batch.producer_id >= 0
        )
        assert found, f"{directory}: no batch of an idempotent producer"
        assert max(found.values()) == 1, f"{directory}: {found.most_common(1)}"


@pytest.mark.timeout(SECONDS + 900)
def test_records_transactions_groups_and_moves_survive(jars: Path, tmp_path: Path) -> None:
    """Every acknowledged record is there once, and its copy, made in a transaction, is there once.

    The copier is a member of a consumer group, and replicas move all the time.
    """
    del jars

    async def main(cluster: Cluster, bootstrap: str) -> None:
        await asyncio.to_thread(create_topics, bootstrap)
        traffic = Traffic(bootstrap, seed=1)
        traffic.start()
        broken = await break_nodes(cluster, SECONDS, Random(1))
        await asyncio.to_thread(traffic.finish)
        orders = await asyncio.to_thread(read_whole, bootstrap, ORDERS)
        copies = await asyncio.to_thread(read_whole, bootstrap, COPIES)
        print(f"faults {broken}, moves {traffic.moves}, began anew {traffic.restarts}")
        print(f"{len(traffic.acked)} acknowledged, {len(orders)} orders, {len(copies)} copies")
        print(f"copies end at {traffic.positions}; the copier said {traffic.last_said}")
        assert traffic.moves["NONE"], "replicas moved"
        assert len(traffic.acked) > SECONDS, "records were acknowledged all the time"
        assert not set(traffic.acked) - set(orders), "an acknowledged record is lost"
        assert sorted(copies) == sorted(orders), "each record is copied exactly once"

    with_real_brokers(tmp_path, main)
    for broker in BROKERS:
        require_once(tmp_path / "nodes" / str(broker) / "data")
        output = (tmp_path / "nodes" / str(broker) / "output.log").read_text("utf-8")
        odd = [line for line in output.splitlines() if OUR_ERRORS.search(line)]
        assert not odd, f"broker {broker}: {odd[0]}"
