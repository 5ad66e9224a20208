"""Every call of five clients works, or is refused at once: docs/clients.md."""

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest

from scripts.clients_page import PAGE, TABLE, page, read_cells
from tests.kafka.clients.aio import Aio
from tests.kafka.clients.cells import settle
from tests.kafka.clients.confluent import Confluent
from tests.kafka.clients.java_client import JavaClient
from tests.kafka.clients.kafka_python import KafkaPython
from tests.kafka.clients.kcat import Kcat
from tests.kafka.clients.rows import (
    NOT_OFFERED,
    NOTHING_COMMITTED,
    OLD_VERSIONS,
    REFUSED,
    ROWS,
    WORKS,
    outcome,
)
from tests.kafka.clients.trio import Trio, start
from tests.kafka.java import Java

pytestmark = [pytest.mark.kafka, pytest.mark.filterwarnings("ignore::DeprecationWarning")]
CLIENTS = {
    "Java client": JavaClient,
    "confluent-kafka": Confluent,
    "kafka-python": KafkaPython,
    "aiokafka": Aio,
    "kcat": Kcat,
}


@contextlib.contextmanager
def make_clients(trio: Trio, java: Java) -> Iterator[dict[str, Any]]:
    """Yield one object of each client, with a topic of its own."""
    start(java, trio)
    made = {}
    for name, kind in CLIENTS.items():
        topic = trio.create(f"topic-of-{name.replace(' ', '-')}")
        made[name] = kind(trio, topic, java) if kind is JavaClient else kind(trio, topic)
    yield made
    made["kafka-python"].close()


@pytest.fixture(scope="module")
def clients(trio: Trio, java: Java) -> Iterator[dict[str, Any]]:
    """The clients of the local cluster."""
    with make_clients(trio, java) as made:
        yield made


@pytest.mark.requirement("631-90")
@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("name", CLIENTS)
def test_a_call_works_or_is_refused_at_once(clients: dict[str, Any], name: str, row: str) -> None:
    call = getattr(clients[name], row, None)
    measured = NOT_OFFERED if call is None else outcome(call)
    old = OLD_VERSIONS.get(name, frozenset())
    if row in (REFUSED - NOTHING_COMMITTED) | old:
        assert measured == NOT_OFFERED or measured.startswith("refused: ")
    else:
        assert measured in {WORKS, NOT_OFFERED}
    settle(name, ROWS[row], measured)


def test_the_page_shows_the_table() -> None:
    cells = read_cells(TABLE)
    assert {client for client, _ in cells}.issuperset(CLIENTS)
    assert PAGE.read_text(encoding="utf-8") == page(cells), "run python -m scripts.clients_page"
