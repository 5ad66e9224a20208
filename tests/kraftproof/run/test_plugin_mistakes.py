"""A mistake in somebody's plug-in is no broken promise: unknown, one line, a traceback."""

import json
import xml.etree.ElementTree as ET

import pytest
from pyarrow.parquet import read_table

from kraftproof import cli
from tests.support.long_cases import mostly_long

pytestmark = pytest.mark.simulation
QUICK = (
    *("prepare", "client-is-none", "declares"),
    *("invoke-fails-as-pytest", "value-is-no-json", "close-is-a-coroutine"),
    *("task-of-run", "final_reads-is-none", "resolved-is-none", "apply", "step", "key-is-none"),
)
"""Mistakes of each kind of plug-in, raised and returned, that `make test` tries."""
LONG = "x" * 5000
MISTAKES = {
    "prepare": (
        {"system": "async def prepare(self, cluster): raise RuntimeError('no\\nlicence')"},
        ("system", "prepare raised RuntimeError: no licence"),
    ),
    "prepare-is-no-coroutine": (
        {"system": "def prepare(self, cluster): pass"},
        ("system", "prepare raised TypeError: "),
    ),
    "prepare-exits": (
        {"system": "async def prepare(self, cluster): raise SystemExit(0)"},
        ("system", "prepare raised SystemExit: 0"),
    ),
    "client": (
        {"system": "def client(self, cluster, workload, random): raise KeyError('port')"},
        ("system", "client raised KeyError: 'port'"),
    ),
    "client-is-none": (
        {"system": "def client(self, cluster, workload, random): pass"},
        ("system", "client returned None; a Client is expected"),
    ),
    "roles": (
        {"system": "async def roles(self, cluster): return {'active-controller': 1}"},
        ("system", "roles returned {'active-controller': 1}; "),
    ),
    "rows": (
        {"system": "def rows(self, cluster, table): raise OSError('gone')"},
        ("system", "rows('records') raised OSError: gone"),
    ),
    "rows-of-no-table": (
        {"system": "def rows(self, cluster, table): return [7]"},
        ("system", "rows('records') raised TypeError: "),
    ),
    "declares": (
        {"system": "def declares(self, node_config): raise LookupError('no such table')"},
        ("system", "declares raised LookupError: no such table"),
    ),
    "declares-is-none": (
        {"system": "def declares(self, node_config): pass"},
        ("system", "declares returned None; a dict of functions and guarantees is expected"),
    ),
    "open": (
        {"client": "async def open(self): raise ValueError('port 70000')"},
        ("client", "open raised ValueError: port 70000"),
    ),
    "invoke": (
        {"client": "async def invoke(self, f, key, value): assert key == 'no such key'"},
        ("client", "invoke raised AssertionError"),
    ),
    "invoke-never-returns": (
        {
            "client": "async def invoke(self, f, key, value):\n"
            "        await self._cluster.scope.sleep(10**18)"
        },
        ("client", "did not return within 300 s"),
    ),
    "invoke-never-returns-in-the-final-reads": (
        {
            "workload": """
            async def final_reads(self, session):
                type(session.process()._client).hangs = True
                return await super().final_reads(session)
            """,
            "client": """
            hangs = False

            async def invoke(self, f, key, value):
                await self._cluster.scope.sleep(10**18 if self.hangs else 0)
                return await super().invoke(f, key, value)
            """,
        },
        ("client", "invoke of lookup did not return within 300 s"),
    ),
    "invoke-fails-as-pytest": (
        {"client": "async def invoke(self, *_): import pytest; pytest.fail('no such key')"},
        ("client", "invoke raised Failed: no such key"),
    ),
    "invoke-is-none": (
        {"client": "async def invoke(self, f, key, value): pass"},
        ("client", "invoke returned None; a Completion is expected"),
    ),
    "invoke-is-no-coroutine": (
        {"client": "def invoke(self, f, key, value): return Completion(outcome=Outcome.OK)"},
        ("client", "invoke has to be an async def that returns its value"),
    ),
    "invoke-times-out": (
        {"client": "async def invoke(self, f, key, value): raise TimeoutError"},
        ("client", "invoke raised TimeoutError; a client raises ConnectionFailed (not sent) or Ou"),
    ),
    "outcome-is-a-text": (
        {"client": "async def invoke(self, f, key, value): return Completion(outcome='okay')"},
        ("client", "invoke returned a Completion whose outcome is 'okay'; "),
    ),
    "value-is-no-json": (
        {
            "client": """
            async def invoke(self, f, key, value):
                return Completion(outcome=Outcome.OK, value={'a': object()})
            """
        },
        ("client", "invoke raised TypeError: "),
    ),
    "long-message": (
        {"client": f"async def invoke(self, f, key, value): raise ValueError('{LONG}')"},
        ("client", "invoke raised ValueError: xxx"),
    ),
    "close": (
        {"client": "def close(self): raise RuntimeError('closed twice')"},
        ("client", "close raised RuntimeError: closed twice"),
    ),
    "close-is-a-coroutine": (
        {"client": "async def close(self): pass"},
        ("client", "close returned a coroutine; "),
    ),
    "value-of-bytes": (
        {"client": "async def invoke(self, *_): return Completion(outcome=Outcome.OK, value=b'7')"},
        ("client", "invoke returned a Completion whose value is b'7'; texts, finite numbers"),
    ),
    "error-of-number": (
        {"client": "async def invoke(self, *_): return Completion(outcome=Outcome.FAIL, error=7)"},
        ("client", "invoke returned a Completion whose error is 7; a text or None is expected"),
    ),
    "node-of-text": (
        {"client": "node = 'one'"},
        ("client", "node returned 'one'; the id of a node or None is expected"),
    ),
    "node": (
        {"client": "node = property(lambda self: 1 / 0)"},
        ("client", "node raised ZeroDivisionError: division by zero"),
    ),
    "run": (
        {"workload": "async def run(self, session): session.nonsense()"},
        ("workload", "run raised AttributeError: 'RunSession' object has no attribute 'nonsense'"),
    ),
    "run-asks-for-no-json": (
        {"workload": "async def run(self, s): await s.process().invoke('create', 'k', {'a': s})"},
        ("workload", "run raised TypeError: "),
    ),
    "task-of-run": (
        {
            "workload": """
            async def run(self, session):
                session.scope.spawn(self.child(session))
                await session.scope.sleep(10**12)

            async def child(self, session):
                raise ValueError('child')
            """
        },
        ("workload", "a task of run raised ValueError: child"),
    ),
    "swallowed": (
        {
            "client": "async def invoke(self, f, key, value): pass",
            "workload": """
            async def run(self, session):
                while not session.ending:
                    try:
                        await session.process().invoke('create', 'k', {})
                    except Exception:
                        await session.scope.sleep(1_000_000)
            """,
        },
        ("client", "invoke returned None; a Completion is expected"),
    ),
    "final_reads": (
        {"workload": "async def final_reads(self, session): raise LookupError('no pool')"},
        ("workload", "final_reads raised LookupError: no pool"),
    ),
    "final_reads-is-none": (
        {"workload": "async def final_reads(self, session): pass"},
        ("workload", "final_reads returned None; a whole number is expected"),
    ),
    **{
        call: (
            {"fault": f"{'async ' * is_async}def {call}(self, *_): raise ValueError('on strike')"},
            ("fault", f"{call} raised ValueError: on strike"),
        )
        for call, is_async in {
            "resolved": False,
            "describe_heal": False,
            "describe": False,
            "skipped": True,
            "baseline": True,
            "apply": True,
            "observed_effect": True,
            "heal": True,
        }.items()
    },
    "resolved-is-none": (
        {"fault": "def resolved(self, roles, nodes): pass"},
        ("fault", "resolved returned None; a Fault is expected"),
    ),
    "targets": (
        {"fault": "targets = None"},
        ("fault", "targets "),
    ),
    **{
        call: (
            {"model": f"def {call}(self, *_): raise IndexError('no such state')"},
            ("model", "IndexError: no such state"),
        )
        for call in ("validate", "key", "init", "calls", "step", "is_pure")
    },
    "validate-refuses": (
        {"model": "def validate(self, operation): raise ValueError('field value: a date')"},
        ("model", "field value: a date"),
    ),
    "key-is-none": (
        {"model": "def key(self, operation): pass"},
        ("model", "None"),
    ),
}


def the_run(store):
    (directory,) = store.iterdir()
    return directory


def test_the_plugins_are_right_as_they_are(test):
    status, out, err = test({}, "--nodes", "3+2", "--time-limit", "40")
    assert status == 0, out + err


@pytest.mark.parametrize(("replaced", "named"), mostly_long(MISTAKES.items(), QUICK))
def test_a_mistake_in_a_plugin_is_unknown_and_named_in_one_line(test, tmp_path, replaced, named):
    status, out, err = test(replaced)
    assert status == 2, out + err
    assert "Traceback" not in out + err
    kind, what = named
    (line,) = [line for line in out.splitlines() if what in line]
    assert line.strip().startswith(f"{kind} '") or kind == "model", line
    assert len(line) < 700
    run = the_run(tmp_path / "store")
    assert line.endswith("(traceback: plugin-error.txt)")
    traceback = (run / "plugin-error.txt").read_text()
    assert traceback.startswith("Traceback (most recent call last)")
    assert "site/plugins_" in traceback or "returned" in what or kind == "model"
    assert ">unknown</h1>" in (run / "report.html").read_text()
    assert ET.parse(run / "junit.xml").getroot().get("errors") == "1"
    assert (run / "history.jsonl").is_file()
    assert out.splitlines()[-1].startswith("unknown  ")


@pytest.mark.parametrize("mistake", ["validate-refuses", "validate", "key-is-none", "step"])
def test_a_run_whose_model_fails_is_unknown_when_judged_again(test, tmp_path, capsys, mistake):
    replaced, (_, what) = MISTAKES[mistake]
    assert test(replaced)[0] == 2
    status = cli.run(["check", "--engine", "inline", str(the_run(tmp_path / "store"))])
    out, err = capsys.readouterr()
    assert status == 2, out + err
    assert (out.startswith("unknown "), err) == (True, "")
    assert [line for line in out.splitlines() if what in line]


@pytest.mark.parametrize(
    ("raised", "status"),
    [("ValueError('late')", 2), ("KeyboardInterrupt", 130)],
    ids=["mistake", "interrupt"],
)
def test_a_run_that_ends_amid_acknowledged_operations_accuses_nobody(
    test, tmp_path, capsys, raised, status
):
    late = f"""
    calls = 0

    async def invoke(self, f, key, value):
        type(self).calls += 1
        if self.calls > 30:
            raise {raised}
        return await super().invoke(f, key, value)
    """
    ended, out, err = test({"client": late}, "--rate", "20")
    assert ended == status, out + err
    run = the_run(tmp_path / "store")
    assert cli.run(["check", "--json", str(run)]) == 2
    verdict = json.loads(capsys.readouterr().out)
    assert (verdict["verdict"], verdict["findings"]) == ("unknown", [])
    kept = read_table(run / "tables" / "records.parquet")
    assert kept.num_rows > 0, "the logs of the nodes are judged as well"
