"""The cluster of the clients, made once for all tests here."""

from collections.abc import Iterator

import pytest

from tests.kafka.clients.trio import Trio, running


@pytest.fixture(scope="session")
def trio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trio]:
    """One controller and three brokers with an authorizer."""
    with running(tmp_path_factory.mktemp("trio")) as cluster:
        yield cluster
