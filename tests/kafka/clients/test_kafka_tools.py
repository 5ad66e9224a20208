"""Each of Kafka's own tools works against our cluster, or is refused at once."""

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest

from tests.kafka.clients.cells import settle
from tests.kafka.clients.rows import AT_ONCE_SECONDS, HANGS, WORKS
from tests.kafka.clients.steps import STEPS, Step
from tests.kafka.clients.trio import Trio, start
from tests.kafka.java import Java
from tests.kafka.java_host.host import OVERDUE, Done

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
    while step.is_repeated and not matches(step, done) and time.monotonic() < deadline:
        done = run()
    if step.linger_seconds:
        java.host.end()  # its threads would go on
    settle(step.tool, step.call, measured(step, done))
