"""Ctrl-C of commands with containers or Spark: one line, and nothing is left behind."""

import signal
import time

import pytest

from tests.kraftproof.interrupted import PATIENCE_S, applied, is_quiet, wait_for
from tests.support.command import KRAFTPROOF, run
from tests.support.long_cases import long


@pytest.mark.docker
@pytest.mark.parametrize("moment", ["the start", "the workload"])
def test_ctrl_c_leaves_no_container(harness, tmp_path, moment):
    from kraftproof.cluster.docker.engine import connect_engine
    from kraftproof.cluster.docker.owner import OWNER

    store = tmp_path / "store"
    process = harness(
        *("test", "--backend", "docker", "--engine", "inline", "--nodes", "1+1"),
        *("--nemesis", "pause", "--time-limit", "600", "--store", store),
    )
    client = connect_engine()
    try:

        def ours():
            named = {"label": OWNER}
            containers = client.containers.list(all=True, filters=named, ignore_removed=True)
            owners = {one.name: one.labels[OWNER] for one in containers}
            for network in client.networks.list(filters=named):
                owners[network.name] = network.attrs["Labels"][OWNER]
            return [name for name, owner in owners.items() if f":{process.pid}:" in owner]

        wait_for(ours if moment == "the start" else lambda: applied(store))
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=2 * PATIENCE_S)
        assert process.returncode == 130, out + err
        assert err.splitlines()[-1].startswith("kraftproof: interrupted; the verdict on ")
        assert is_quiet(out, err), err
        assert ours() == []
    finally:
        client.close()


@pytest.fixture(scope="module")
def histories(tmp_path_factory):
    """A folder of histories that take Spark a while."""
    folder = tmp_path_factory.mktemp("histories")
    for seed in range(3):
        options = ("--operations", "60000", "--keys", "40", "--seed", seed)
        made = run(KRAFTPROOF, "generate", *options, "--out", folder / f"{seed}.jsonl")
        assert made.returncode == 0, made.stderr
    return folder


@pytest.mark.spark
@pytest.mark.parametrize("moment", [long("starting Spark"), long("judging")])
def test_ctrl_c_ends_an_analysis_and_its_java(harness, histories, tmp_path, moment):
    out = tmp_path / "analysis"
    process = harness("analyze", histories, "--master", "local[2]", "--out", out)
    seen = ""
    while moment not in seen:
        line = process.stderr.readline()
        assert line, seen
        seen += line
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    said, err = process.communicate(timeout=2 * PATIENCE_S)  # Java, if it lived, would hold it open
    assert process.returncode == 130, said + err
    assert err.splitlines()[-1] == "kraftproof: interrupted"
    assert is_quiet(said, err), err
    assert not (out / ".stage").exists()


@pytest.mark.spark
@pytest.mark.parametrize("after_s", [long(1.5), long(3.0), 6.0])
def test_ctrl_c_ends_a_check_on_spark_and_its_java(harness, history, after_s):
    process = harness("check", "--engine", "spark", history)
    time.sleep(after_s)
    if process.poll() is not None:  # a fast machine was done before
        return
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE_S)  # Java, if it lived, would hold these open
    assert process.returncode == 130, out + err
    assert "kraftproof: interrupted" in err.splitlines()
    assert "Traceback" not in err
    assert "py4j" not in err
