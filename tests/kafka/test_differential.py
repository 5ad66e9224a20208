"""The same requests to a real Kafka node and to ours: equal answers, but for the listed ones."""

from collections.abc import Iterator

import pytest

from kraftproof.node.core.served import served_versions
from kraftproof.node.wire.messages import describe_quorum_request, describe_quorum_response
from tests.kafka.differential.case import CONTROLLER, Case, Context, every_version
from tests.kafka.differential.cases import CASES
from tests.kafka.differential.compare import differences
from tests.kafka.differential.difference import Difference
from tests.kafka.differential.expected import DIFFERENCES
from tests.kafka.differential.quorum import describe
from tests.kafka.differential.system import CLUSTER_ID, Answer, System, both
from tests.kafka.differential.throttling import (
    CONNECTION_RATE,
    CONNECTIONS,
    connections_taken,
    throttle_times,
    wait_of_time,
)
from tests.kafka.java import Java

pytestmark = pytest.mark.kafka
FEWEST_REQUESTS = 800
THROTTLE_TOLERANCE_MS = 150
ONE_WINDOW_MS = 1000

Found = list[tuple[Case, int, Answer, Answer]]


@pytest.fixture(scope="module")
def systems(
    java: Java, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[System, System]]:
    """Ours and the real one."""
    with both(java, tmp_path_factory.mktemp("differential")) as (ours, real):
        yield ours, real


@pytest.fixture(scope="module")
def answers(systems: tuple[System, System]) -> Found:
    """Every case in every version of it, with both answers, in the order of the cases."""
    ours, real = systems
    for system in systems:
        learn_epoch(system)
    return [
        (case, version, ours.ask(case, version), real.ask(case, version))
        for case in CASES
        for version in case.versions
    ]


def learn_epoch(system: System) -> None:
    case = describe("", "__cluster_metadata", 0, to=CONTROLLER)
    answer = system.ask(case, every_version(describe_quorum_request.DescribeQuorumRequest)[-1])
    assert isinstance(answer, describe_quorum_response.DescribeQuorumResponse)
    system.context.leader_epoch = answer.topics[0].partitions[0].leader_epoch


def each_difference(answers: Found) -> Iterator[tuple[str, int, str, tuple[object, object]]]:
    for case, version, ours, real in answers:
        for path, values in differences(ours, real, case.drawn).items():
            yield case.name, version, path, values


def covering(name: str, path: str) -> list[Difference]:
    return [difference for difference in DIFFERENCES if difference.covers(name, path)]


@pytest.mark.requirement("631-03")
@pytest.mark.requirement("631-43")
@pytest.mark.requirement("631-90")
def test_every_answer_is_kafkas_but_for_what_is_listed(answers: Found) -> None:
    assert len(answers) >= FEWEST_REQUESTS
    unlisted = [
        f"{name} v{version}: {path} is {ours!r}, Kafka's {real!r}"
        for name, version, path, (ours, real) in each_difference(answers)
        if not covering(name, path)
    ]
    assert not unlisted, "\n".join(unlisted)


def test_every_listed_difference_is_there(answers: Found) -> None:
    seen = {
        difference
        for name, _, path, _ in each_difference(answers)
        for difference in covering(name, path)
    }
    assert [row for row in DIFFERENCES if row not in seen] == []


def test_each_case_has_a_name_of_its_own() -> None:
    names = [case.name for case in CASES]
    assert len(set(names)) == len(names)


def test_every_api_that_we_serve_is_asked_for(answers: Found) -> None:
    asked = {(case.make(Context(CLUSTER_ID)).API_KEY, version) for case, version, _, _ in answers}
    served = {
        (key, version)
        for is_controller in (False, True)
        for key, (first, last) in served_versions(on_controller_listener=is_controller).items()
        for version in range(first, last + 1)
    }
    assert served - asked == set()


@pytest.mark.long
def test_throttle_times_are_kafkas(systems: tuple[System, System], answers: Found) -> None:
    """Kafka also counts the headers; each wait is about a second."""
    ours, real = (throttle_times(system) for system in systems)
    assert ours.keys() == real.keys()
    for key, waits in ours.items():
        assert waits.apart(real[key]) <= THROTTLE_TOLERANCE_MS, (key, ours, real)
    assert [0 < wait_of_time(system) <= ONE_WINDOW_MS for system in systems] == [True, True]
    (ours_taken, ours_s), (real_taken, real_s) = map(connections_taken, systems)
    more = CONNECTION_RATE * max(ours_s, real_s)  # a busy machine opens the last ones later
    assert abs(ours_taken - real_taken) <= 1 + more, (ours_taken, real_taken, more)
    assert max(ours_taken, real_taken) < CONNECTIONS
