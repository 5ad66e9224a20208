"""What is foreseen of a run before anything has started: guards that it cannot meet."""

import json

import pytest

from kraftproof.cluster.systems.reference.system import ReferenceSystem
from kraftproof.cluster.systems.registry import make_system
from kraftproof.errors import UsageError
from kraftproof.nemesis.catalogue import UnknownNemesisError
from kraftproof.options import RunOptions
from kraftproof.run.planning import foreseen, plan
from kraftproof.run.run_nodes import nodes_of_run


@pytest.mark.parametrize(
    ("nodes", "said"),
    [
        ("0", "system odd: nodes 0: 1 to 32 is expected"),
        ("99", "system odd: nodes 99: 1 to 32 is expected"),
        ("three", "system odd: nodes three: 3+3, 5, or controller=3,broker=3 is expected"),
        ("1+1", "system odd: nodes 1+1: the system odd takes 3 or server=3"),
    ],
)
def test_nodes_of_a_system_that_no_run_can_have_are_its_mistake(nodes, said):
    kind = type("Odd", (ReferenceSystem,), {"name": "odd", "nodes": nodes})
    kind.roles_of_nodes = ("server",)
    with pytest.raises(UsageError) as refused:
        nodes_of_run(RunOptions(), kind())
    assert str(refused.value) == said


@pytest.mark.parametrize(
    ("system", "nodes", "said"),
    [
        ("reference", "controler=3", "unknown role 'controler' (did you mean controller?): the r"),
        ("reference", "controller=3,brokers=3", "unknown role 'brokers' (did you mean broker?)"),
        ("apache-kafka", "controller+brokr=3", "unknown role 'brokr' (did you mean broker?)"),
        ("apache-kafka", "zookeeper=3", "unknown role 'zookeeper': the roles of the system apache"),
        ("mixed", "referense=2", "unknown role 'referense' (did you mean reference?)"),
    ],
)
def test_a_role_that_the_system_does_not_have_is_named_with_the_nearest(system, nodes, said):
    with pytest.raises(UsageError) as refused:
        nodes_of_run(RunOptions(nodes=nodes), make_system(system))
    line = str(refused.value)
    assert line.startswith(f"--nodes {nodes}: {said}")
    assert line.endswith("controller, broker")


def sentences(tmp_path, **fields):
    given = {"backend": "simulated", "engine": "inline", "nemeses": ("kill",), "seed": 7}
    options = RunOptions(**{**given, "store": tmp_path, **fields})
    return foreseen(plan(options), options)


def test_enough_faults_and_a_quiet_run_are_foreseen_as_nothing(tmp_path):
    assert sentences(tmp_path) == ()
    assert sentences(tmp_path, fault_every_s=8, time_limit_s=60) == ()
    assert sentences(tmp_path, time_limit_s=12, min_bites=1) == ()


def test_too_few_faults_and_too_little_quiet_are_foreseen(tmp_path):
    few, busy = sentences(tmp_path, time_limit_s=5)
    assert few.startswith("kill is planned once, which can't give a valid verdict")
    assert busy.startswith("20% of the run is planned to be quiet, at least 30% is needed")
    (few,) = sentences(tmp_path, fault_every_s=8, time_limit_s=60, min_bites=9)
    assert few.startswith("kill is planned 5 times,")
    (busy,) = sentences(tmp_path, fault_every_s=2, time_limit_s=60)
    assert "is planned to be quiet, at least 30%" in busy
    assert busy.endswith("give a longer --time-limit or a longer --fault-every")


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"fault_every_s": 1}, "--fault-every 1: 2 to 30.0 is expected"),
        ({"fault_every_s": 31}, "--fault-every 31: 2 to 30.0 is expected"),
        ({"min_bites": -1}, "--min-bites -1: 0 to 1000 is expected"),
    ],
)
def test_an_interval_or_a_number_out_of_its_range_is_refused(fields, named):
    with pytest.raises(UsageError) as raised:
        RunOptions(**fields)
    assert str(raised.value) == named


@pytest.mark.parametrize("workload", ["topics", "registration"])
def test_a_failed_directory_is_refused_where_no_record_is_kept(tmp_path, workload):
    fields = {"nemeses": ("failed-directory",), "time_limit_s": 30}
    with pytest.raises(UsageError, match="keeps no records in log dir"):
        plan(RunOptions(backend="simulated", workload=workload, store=tmp_path, **fields))
    plan(RunOptions(backend="simulated", workload="log", store=tmp_path, **fields))


def test_an_unknown_nemesis_is_refused_even_if_the_run_is_too_short_to_draw_a_fault_of_it(tmp_path):
    short = {"nemeses": ("kill", "storm"), "time_limit_s": 6, "fault_every_s": 3}
    for seed in range(5):
        with pytest.raises(UnknownNemesisError, match="unknown nemesis 'storm'"):
            sentences(tmp_path, **short, seed=seed)


@pytest.mark.long
def test_the_number_of_bites_that_was_asked_for_holds_when_a_run_is_judged_again(
    kraftproof_run, tmp_path
):
    fields = {"backend": "simulated", "nemesis": "kill", "nodes": "3+1", "time_limit_s": 12}
    run = kraftproof_run(**fields, fault_every_s=4, min_bites=1)
    assert run.verdict == "valid", run.why
    stated = json.loads((run.directory.path / "run.json").read_text())["options"]
    assert (stated["min_bites"], stated["fault_every_s"]) == (1, 4)
    stated = kraftproof_run(**fields, fault_every_s=4, min_bites=9)
    assert stated.verdict == "unknown"
    assert any("at least 9 are needed" in sentence for sentence in stated.why)
