"""Each of Kafka's own tools works against our cluster, or is refused at once."""

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from kraftproof.cluster.local.local_cluster import READY_TIMEOUT_NS
from kraftproof.cluster.remote.readiness import wait_until_ready
from kraftproof.cluster.systems.reference.system import ReferenceSystem
from tests.kafka.clients.cells import settle
from tests.kafka.clients.rows import AT_ONCE_SECONDS, HANGS, WORKS
from tests.kafka.clients.step import CONFIGS, REASSIGN, TOPICS, Step
from tests.kafka.clients.steps import STEPS
from tests.kafka.clients.trio import Trio, start
from tests.kafka.java import Java
from tests.kafka.java_host.host import OVERDUE, Done
from tests.kafka.systems import until

pytestmark = pytest.mark.kafka
STEP_SECONDS = 30
STACK = re.compile(r"^\s+at \S+\(\S+\)$", re.MULTILINE)


def plan(*partitions: dict[str, Any]) -> str:
    return json.dumps({"version": 1, "partitions": [{"topic": "t", **one} for one in partitions]})


@pytest.fixture(scope="module")
def folder(trio: Trio, java: Java, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the steps."""
    start(java, trio)
    made = tmp_path_factory.mktemp("steps")
    nowhere = ["/nowhere", "any"]
    files = {
        "topics": json.dumps({"version": 1, "topics": [{"topic": "t"}]}),
        "delete": plan({"partition": 0, "offset": 1}),
        "plan": plan({"partition": 0, "replicas": [4, 2]}, {"partition": 1, "replicas": [2, 3]}),
        "back": plan({"partition": 0, "replicas": [2, 3]}),
        "directories": plan({"partition": 0, "replicas": [2, 3], "log_dirs": nowhere}),
    }
    for name, text in files.items():
        (made / f"{name}.json").write_text(text)
    return made


def matches(step: Step, done: Done) -> re.Match[str] | None:
    return re.search(step.prints, done.text, re.MULTILINE)


def is_early(step: Step, done: Done) -> bool:
    """Whether a later run may work: a broker applies a change after the controller's answer."""
    if step.is_refused or done.status == OVERDUE:
        return False
    return done.status != 0 or matches(step, done) is None


def measured(step: Step, done: Done) -> str:
    """Return the cell of a run, which must match the step."""
    if done.status == OVERDUE or done.seconds > AT_ONCE_SECONDS + step.linger_seconds:
        return HANGS
    found = matches(step, done)
    assert found is not None, done.text
    if step.is_refused:
        return f"refused: {found[0]}"
    assert done.status == 0, done.text
    assert not STACK.search(done.text), done.text
    return WORKS


@pytest.mark.requirement("631-90")
@pytest.mark.parametrize("step", STEPS, ids=lambda step: f"{step.tool} {step.call}")
def test_each_step_of_a_tool(trio: Trio, java: Java, folder: Path, step: Step) -> None:
    assert java.host is not None
    names = {"brokers": trio.brokers, "controllers": trio.controllers, "folder": str(folder)}
    host, options = java.host, [word.format(**names) for word in step.options.split()]

    def run() -> Done:
        return host.run(
            step.main_class,
            *options,
            input_text=step.text,
            seconds=STEP_SECONDS,
            linger_seconds=step.linger_seconds,
        )

    done = run()
    deadline = time.monotonic() + STEP_SECONDS
    while is_early(step, done) and time.monotonic() < deadline:
        done = run()
    if step.linger_seconds:
        java.host.end()  # its threads would go on
    settle(step.tool, step.call, measured(step, done))


def run_tool(trio: Trio, java: Java, main_class: str, options: str) -> str:
    """Run a tool that must succeed, and return its output."""
    return java.output(main_class, "--bootstrap-server", trio.brokers, *options.split())


def send(trio: Trio, partition: int, size: int) -> str | None:
    """Produce a record; return the name of the error, if any."""
    producer = Producer({"bootstrap.servers": trio.brokers, "acks": "all"})
    reports: list[str | None] = []
    producer.produce(
        "sized",
        bytes(size),
        partition=partition,
        on_delivery=lambda error, _: reports.append(None if error is None else error.name()),
    )
    assert producer.flush(STEP_SECONDS) == 0
    return reports[0]


@pytest.mark.requirement("631-90")
def test_a_dynamic_key_of_kafka_configs_takes_effect(trio: Trio, java: Java, folder: Path) -> None:
    assert folder.is_dir()
    run_tool(trio, java, TOPICS, "--create --topic sized --replica-assignment 2:3,3:2")
    broker, everyone = "--entity-name 2", "--entity-default"
    limit = "--entity-type brokers {} --alter --add-config message.max.bytes={}"
    removal = "--entity-type brokers {} --alter --delete-config message.max.bytes"
    refused = "MSG_SIZE_TOO_LARGE"
    assert until(lambda: send(trio, 0, 5000) is None)
    run_tool(trio, java, CONFIGS, limit.format(broker, 2000))
    assert until(lambda: send(trio, 0, 5000) == refused), "broker 2 leads partition 0"
    assert send(trio, 1, 5000) is None
    run_tool(trio, java, CONFIGS, limit.format(everyone, 9000))
    assert until(lambda: send(trio, 1, 9500) == refused), "broker 3 leads partition 1"
    assert (send(trio, 1, 5000), send(trio, 0, 5000)) == (None, refused), "broker 2 has its own"
    run_tool(trio, java, CONFIGS, removal.format(broker))
    assert until(lambda: send(trio, 0, 5000) is None), "the value of all brokers"
    run_tool(trio, java, CONFIGS, removal.format(everyone))
    assert until(lambda: send(trio, 1, 9500) is None)


@pytest.mark.requirement("631-73")
def test_a_reassignment_in_progress_is_cancelled(trio: Trio, java: Java, folder: Path) -> None:
    run_tool(trio, java, TOPICS, "--create --topic stuck --replica-assignment 2:3")
    described = ("--bootstrap-server", trio.brokers, "--describe", "--topic", "stuck")
    java.settled(lambda text: "Leader: 2" in text, TOPICS, *described)
    (folder / "stuck.json").write_text(
        plan({"partition": 0, "replicas": [2, 4]}).replace('"t"', '"stuck"')
    )
    file = f"--reassignment-json-file {folder}/stuck.json"
    trio.runner.run(trio.cluster.kill(4))
    try:
        text = run_tool(trio, java, REASSIGN, f"--execute {file}")
        assert "Successfully started partition reassignment for stuck-0" in text
        text = run_tool(trio, java, REASSIGN, "--list")
        assert "stuck-0: replicas: 2,4,3. adding: 4. removing: 3." in text
        text = run_tool(trio, java, REASSIGN, f"--verify --preserve-throttles {file}")
        assert "Reassignment of partition stuck-0 is still in progress." in text
        text = run_tool(trio, java, REASSIGN, f"--cancel --preserve-throttles {file}")
        assert "Successfully cancelled partition reassignment for: stuck-0" in text
        before = re.compile(r"Replicas: 2,3\s+Isr: 2,3")
        java.settled(lambda text: before.search(text) is not None, TOPICS, *described)
    finally:
        trio.runner.run(trio.cluster.start_node(4))
        wait = wait_until_ready(trio.cluster, ReferenceSystem(), READY_TIMEOUT_NS)
        trio.runner.run(wait)
