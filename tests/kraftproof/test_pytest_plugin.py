"""The pytest plug-in in a pytest of its own: fixtures, options, and nothing left behind."""

import json
import re
from pathlib import Path

import pytest

from kraftproof.cluster.processes import identify

pytest_plugins = "pytester"
README = Path(__file__).resolve().parents[2] / "README.md"

KILL = """
def test_a_broker_comes_back(kraftproof_cluster):
    before = kraftproof_cluster.bootstrap()
    kraftproof_cluster.kill(6)
    assert kraftproof_cluster.drive(kraftproof_cluster.cluster.process_id(6)) is None
    kraftproof_cluster.start_node(6)
    kraftproof_cluster.wait_until_ready()
    assert kraftproof_cluster.bootstrap() == before
"""

BROKEN_ON_PURPOSE = """
import pytest
from kraftproof.errors import UsageError

def test_partitions_and_clocks(kraftproof_cluster):
    cluster = kraftproof_cluster(nodes="3+1", backend="simulated", seed=3)
    assert [node.node_id for node in cluster.nodes] == [1, 2, 3, 4]
    assert cluster.can_reach(1, 2)
    cluster.partition({1}, {2, 3})
    assert not cluster.can_reach(1, 2) and not cluster.can_reach(4, 1)
    assert cluster.can_reach(2, 3)
    cluster.cut(2, 3)
    cluster.heal()
    assert cluster.can_reach(1, 2) and cluster.can_reach(2, 3)
    cluster.shift_clock(1, -60)
    assert cluster.clock_offset(1) == pytest.approx(-60, abs=0.1)
    cluster.heal()
    assert cluster.clock_offset(1) == pytest.approx(0, abs=0.1)
    cluster.sleep(5)
    cluster.wait_until_ready()
    with pytest.raises(UsageError, match="node 9: this cluster has nodes 1 to 4"):
        cluster.kill(9)
    with pytest.raises(UsageError, match="stands in two groups"):
        cluster.partition({1}, {1, 2})

def test_a_backend_says_what_it_can_not_do(kraftproof_cluster):
    cluster = kraftproof_cluster(nodes="1+1", backend="local")
    with pytest.raises(UsageError, match="partition: the local backend can't do that, only disk-"):
        cluster.partition({1})
    with pytest.raises(UsageError, match="--nodes 3"):
        kraftproof_cluster(nodes="3")
"""

SHARED = """
import pytest

from kraftproof.cluster.processes import identify
seen = []

@pytest.fixture(scope="module")
def cluster(kraftproof_module_cluster):
    return kraftproof_module_cluster(nodes="1+1")

@pytest.mark.parametrize("attempt", [1, 2])
def test_the_module_has_one_cluster(cluster, attempt):
    seen.append(cluster)
    assert cluster.cluster is seen[0].cluster

def test_the_session_has_another(kraftproof_session_cluster):
    assert kraftproof_session_cluster(nodes="1+1").cluster is not seen[0].cluster
"""

FAILED_RUN = """
def test_my_run(kraftproof_run):
    run = kraftproof_run(nemesis="kill", nodes="3+1", time_limit_s=5, rate=10)
    assert run.verdict == "valid", run.why

def test_a_field_that_is_none(kraftproof_run):
    kraftproof_run(nemeses_="kill")
"""

FAILS = """
def test_that_fails(kraftproof_cluster):
    started = kraftproof_cluster(nodes="1+1")
    cluster = started.cluster
    ids = [started.drive(cluster.process_id(node.node_id)) for node in cluster.nodes]
    open("processes.json", "w").write(str(ids))
    assert started.bootstrap() == "nonsense"
"""

TWICE = """
import pytest

from kraftproof.cluster.processes import identify
digests = []

@pytest.mark.parametrize("attempt", [1, 2])
def test_one_seed_is_one_run(kraftproof_run, kraftproof_seed, attempt):
    run = kraftproof_run(nemesis="kill", nodes="3+1", time_limit_s=5, rate=10)
    assert kraftproof_seed == 7
    assert (run.directory.path / "report.html").exists()
    assert (run.directory.path / "junit.xml").exists()
    assert run.verdict == "unknown" and any("kill" in why for why in run.why), run.why
    digests.append(run.directory.history.read_bytes())
    assert len(set(digests)) == 1
"""


@pytest.mark.simulation
def test_a_simulated_cluster_is_driven_by_plain_functions(pytester):
    pytester.makepyfile(KILL)
    result = pytester.runpytest_subprocess("--kraftproof-backend", "simulated")
    result.assert_outcomes(passed=1)


def test_a_local_cluster_is_taken_down_also_when_the_test_fails(pytester, runtime):
    pytester.makepyfile(FAILS)
    result = pytester.runpytest_subprocess()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*assert '127.0.0.1:*' == 'nonsense'*"])
    assert not list((runtime / "kraftproof").glob("*.json"))
    processes = json.loads((pytester.path / "processes.json").read_text())
    assert len(processes) == 2
    assert all(identify(process) is None for process in processes)


@pytest.mark.long
def test_partitions_and_clocks_are_plain_methods(pytester, runtime):
    pytester.makepyfile(BROKEN_ON_PURPOSE)
    pytester.runpytest_subprocess().assert_outcomes(passed=2)


@pytest.mark.simulation
def test_a_module_and_a_session_share_their_clusters(pytester):
    pytester.makepyfile(SHARED)
    result = pytester.runpytest_subprocess("--kraftproof-backend", "simulated")
    result.assert_outcomes(passed=3)


@pytest.mark.simulation
def test_a_failure_names_the_run_its_report_and_what_to_type_next(pytester):
    pytester.makepyfile(FAILED_RUN)
    result = pytester.runpytest_subprocess("--kraftproof-backend", "simulated")
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(
        [
            "*- kraftproof -*",
            "unknown *faults that bit: *",
            "*give a longer --time-limit, fewer kinds of faults or a shorter --fault-every*",
            "  run directory: *store*",
            "  report: *report.html",
            "  to see why:    kraftproof explain *",
            "*UsageError: kraftproof_run: no option nemeses_ (did you mean nemeses?): one of *",
        ]
    )


@pytest.mark.simulation
def test_a_run_takes_the_seed_and_the_options_of_the_command(pytester):
    pytester.makepyfile(TWICE)
    result = pytester.runpytest_subprocess(
        "--kraftproof-backend", "simulated", "--kraftproof-seed", "7"
    )
    result.assert_outcomes(passed=2)


@pytest.mark.simulation
def test_the_example_of_the_readme_passes(pytester):
    (example,) = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    pytester.makepyfile(example)
    result = pytester.runpytest_subprocess("--kraftproof-backend", "simulated")
    result.assert_outcomes(passed=1)


def test_a_backend_that_is_not_there_is_a_usage_error(pytester):
    result = pytester.runpytest_subprocess("--kraftproof-backend", "moon")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--kraftproof-backend: invalid choice: 'moon'*"])


def test_a_mutant_in_a_process_that_has_the_node_is_refused(kraftproof_run):
    import kraftproof.node.core.node  # noqa: F401 - the mutant would come too late
    from kraftproof.errors import UsageError

    with pytest.raises(UsageError, match="is imported already"):
        kraftproof_run(backend="simulated", mutant="A27")


def test_run_json_tells_what_was_run_and_where(healthy_run):
    found = json.loads((healthy_run / "run.json").read_text())
    assert found["options"]["seed"] == 5
    assert found["options"]["session_ms"] == 2000
    assert found["options"]["failover_ms"] == 5000
    assert found["mutant_hash"] is None
    assert set(found["versions"]) == {"immutables", "msgspec", "pyarrow", "pyspark"}
    assert found["host"]["cpus"] > 0
    assert found["host"]["memory_bytes"] > 0


OTHER_TYPES = """
import pytest
from kraftproof.errors import UsageError

WRONG = {
    "nemesis": (["kill"], "nemesis=['kill']: a text is expected, such as 'kill,pause'"),
    "time_limit_s": ("4", "time_limit_s='4': a number is expected"),
    "seed": (1.5, "seed=1.5: a whole number is expected"),
    "system": (int, "a text is expected: a name, or path/to/file.py:Class"),
    "mutant": (3, "mutant=3: a text or None is expected"),
}

@pytest.mark.parametrize("name", WRONG)
def test_a_value_of_another_type_is_refused(kraftproof_run, name):
    value, line = WRONG[name]
    with pytest.raises(UsageError) as raised:
        kraftproof_run(**{name: value})
    assert str(raised.value).startswith("kraftproof_run: " + name + "=")
    assert line in str(raised.value)
"""


def test_a_keyword_of_another_type_is_refused_in_a_line(pytester):
    pytester.makepyfile(OTHER_TYPES)
    result = pytester.runpytest_subprocess()
    result.assert_outcomes(passed=5)
