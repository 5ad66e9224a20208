"""A plug-in that can't be used is refused in one line before anything runs."""

import pytest

UNUSABLE = {
    "import": (
        {"system": "#! \nimport no_such_module"},
        "system 'PACKAGE' (PACKAGE.system:System of PACKAGE) can't be loaded: ModuleNotFoundError:",
    ),
    "class": (
        {"workload": "#! \nWorkloads = None"},
        "workload 'PACKAGE' (PACKAGE.workload:Workload of PACKAGE) can't be loaded: AttributeError",
    ),
    "method": ({"workload": "run = None"}, "can't be loaded: it has no method run"),
    "syntax": ({"planner": "def ("}, "fault 'PACKAGE' (PACKAGE.planner:plan of PACKAGE) can't be"),
    "exit": ({"system": "raise SystemExit(0)"}, "can't be loaded: SystemExit: 0"),
    "planner": (
        {"planner": "#! \ndef plan(random, nodes, /): return 1 / 0"},
        "its planner raised ZeroDivisionError: division by zero",
    ),
    "planner-of-nothing": (
        {"planner": "#! \ndef plan(random, nodes, /): pass"},
        "its planner returned None; a Fault is expected",
    ),
    "seconds": ({"system": "ready_s = '60'"}, "system.py: ready_s is '60'; a number of seconds"),
    "mutants": ({"system": "takes_mutants = 'no'"}, "takes_mutants is 'no'; True or False"),
    "endless": ({"system": "ready_s = float('inf')"}, "a number of seconds above 0 and up to 864"),
    "step": ({"system": "clock_step_s = 2"}, "clock_step_s is 2; a number of seconds from 0 to 1"),
    "roles": (
        {"system": "def node_roles(self, asked): return 'server'"},
        "node_roles returned 'ser",
    ),
    "remarks": ({"system": "def remarks(self): return 'slow'"}, "remarks returned 'slow'; a tuple"),
    "refuse": ({"system": "def refuse(self, options): return 'no'"}, "refuse returned 'no'; None"),
    "base": (
        {"system": "#! \nclass System: name = 'x'"},
        "system.py is no subclass of kraftproof.cl",
    ),
    "nodes-of-number": ({"system": "nodes = 3"}, "nodes is 3; a text such as"),
    "pattern": ({"system": "fatal_output = ('(',)"}, "a tuple of regular expressions is expected"),
    "errors": ({"system": "internal_errors = None"}, "is None; a frozenset of texts is expected"),
    "attribute": ({"system": "errors = property(lambda self: 1 / 0)"}, "ZeroDivisionError"),
    "capabilities": (
        {"system": "def capabilities(self, can): raise KeyError('pause')"},
        "capabilities raised KeyError: 'pause'",
    ),
    "model-of-number": ({"workload": "model = 7"}, "workload.py: model is 7; a text is expected"),
    "initial": ({"workload": "initial = 5"}, "initial is 5; a tuple of texts is expected"),
    "data": ({"workload": "has_data = property(lambda self: 1 / 0)"}, "ZeroDivisionError"),
    "kind": ({"fault": "kind = 7"}, "fault.py: kind is 7; a text is expected"),
    "capability": (
        {"fault": "requires = 'teleport'"},
        "Fault.requires is 'teleport', no capability; one of kill, pause, restart, partition",
    ),
    "old-name-in-fault": (
        {"fault": "async def bitten(self, context, before): return 'seen'"},
        "Fault.bitten is never called: the name is now observed_effect",
    ),
    "old-name-in-model": (
        {"model": "def turns(self, calls, events): return None"},
        "Model.turns is never called: the name is now update_order",
    ),
    "model": ({"model": "import no_such_module"}, "model PACKAGE (PACKAGE.model:Model of PACKAGE)"),
    "model-is-none": ({"model": "#! \nModel = dict"}, "is no model: it has to be"),
}


@pytest.mark.parametrize(("replaced", "named"), UNUSABLE.values(), ids=UNUSABLE.keys())
def test_a_plugin_that_cant_be_used_is_refused_before_anything_runs(
    test, package, tmp_path, replaced, named
):
    status, out, err = test(replaced)
    assert (status, out) == (3, ""), out + err
    (line,) = [line for line in err.splitlines() if not line.startswith("  ")]
    assert line.startswith("kraftproof: ")
    assert named.replace("PACKAGE", package) in line
    assert not (tmp_path / "store").exists()
