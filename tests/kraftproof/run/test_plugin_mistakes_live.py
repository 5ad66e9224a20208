"""A plug-in's mistake on a live cluster: other faults are healed, and no call lasts for ever."""

import json
import sys
import xml.etree.ElementTree as ET
from zlib import crc32

import pytest

from tests.support.command import run
from tests.support.long_cases import mostly_long
from tests.support.plugins import install

DRIVER = """
from kraftproof import cli
from kraftproof.run import backends, planning
from kraftproof.run.live import backends as live_backends
from kraftproof.nemesis.pause import Pause
from kraftproof.nemesis.schedule import SECOND_NS, Scheduled

def overlapping(options, given):
    # The fault of the package is healed while another fault is in force.
    from PACKAGE.fault import Fault
    nodes = [node.node_id for node in planning.cluster_options(options, None).nodes]
    faults = (Pause(target=nodes[-1]), 250), (Fault(target=nodes[-2]), 4)
    return tuple(
        Scheduled(
            name=fault.kind,
            kind=fault.kind,
            at_ns=SECOND_NS // 10,
            until_ns=until_s * SECOND_NS,
            fault=fault,
        )
        for fault, until_s in faults
    )

backends.BLOCKED_S = live_backends.BLOCKED_S = 3.0
if IS_OVERLAPPING:
    planning.plan = overlapping
cli.main()
"""
"""The command with a short limit for calls that block a run, and perhaps a schedule of its own."""


@pytest.fixture
def package(request):
    """A name that no other test has imported."""
    return f"plugins_{crc32(request.node.name.encode())}"


@pytest.fixture
def test(tmp_path, package):
    """Runs `kraftproof test` with plug-ins of which some methods are replaced."""

    def run_test(replaced, backend="local", nodes="1+2", *, is_overlapping=False):
        install(tmp_path / "site", package, replaced)
        driver = DRIVER.replace("PACKAGE", package).replace("IS_OVERLAPPING", str(is_overlapping))
        done = run(
            (sys.executable, "-c", driver),
            *("test", "--backend", backend, "--engine", "inline", "--nodes", nodes),
            *("--system", package, "--workload", package, "--nemesis", package),
            *("--time-limit", "300", "--rate", "5", "--store", tmp_path / "store"),
            environment={"PYTHONPATH": str(tmp_path / "site"), "XDG_RUNTIME_DIR": str(tmp_path)},
            timeout=150,
        )
        return done.returncode, done.stdout, done.stderr

    return run_test


def the_mistake(status, out, err, store, what):
    """The run's directory and the only line that tells of the mistake, once all else is right."""
    assert status == 2, out + err
    assert "Traceback" not in out + err
    (line,) = [line for line in out.splitlines() if what in line]
    assert line.endswith("(traceback: plugin-error.txt)"), line
    (directory,) = store.iterdir()
    assert ">unknown</h1>" in (directory / "report.html").read_text()
    assert ET.parse(directory / "junit.xml").getroot().get("errors") == "1"
    return directory, line.strip()


def phases_of(directory, kind):
    events = [json.loads(line) for line in (directory / "faults.jsonl").read_text().splitlines()]
    return [event["phase"] for event in events if event["kind"] == kind]


HEALS = {
    "raises": (
        "async def heal(self, context): raise ValueError('on strike')",
        "heal raised ValueError: on strike",
    ),
    "hangs": (
        """
        call_limit_ns = 5_000_000_000

        async def heal(self, context):
            await context.cluster.scope.sleep(10**15)
        """,
        "heal raised TimeoutError: not done within 5 s",
    ),
}


@pytest.mark.parametrize(("heal", "what"), HEALS.values(), ids=HEALS)
@pytest.mark.long
def test_a_heal_that_fails_keeps_no_other_fault_from_being_healed(
    test, tmp_path, package, heal, what
):
    directory, line = the_mistake(
        *test({"fault": heal}, is_overlapping=True), tmp_path / "store", what
    )
    assert line.startswith(f"fault '{package}' ({package}.fault.Fault in ")
    assert phases_of(directory, package)[-1] == "failed"
    assert phases_of(directory, "pause")[-1] == "healed"
    assert "in heal\n" in (directory / "plugin-error.txt").read_text()


BACKENDS = ("local", "simulated")
BLOCKS = {
    "prepare": ("system", "async def prepare(self, cluster): import time; time.sleep(600)"),
    "invoke": (
        "client",
        """
        async def invoke(self, f, key, value):
            try:
                while True:
                    pass
            except Exception:
                pass
        """,
    ),
    "apply": (
        "fault",
        """
        async def apply(self, context):
            import subprocess
            await Pause.apply(self, context)
            subprocess.run(["sleep", "600"])
        """,
    ),
    "a task of run": (
        "workload",
        """
        async def run(self, session):
            session.scope.spawn(self.child())
            await session.scope.sleep(10**12)

        async def child(self):
            import time
            time.sleep(600)
        """,
    ),
}


@pytest.mark.parametrize(
    ("backend", "call"),
    mostly_long(
        ((f"{backend}-{call}", (backend, call)) for backend in BACKENDS for call in BLOCKS),
        ["local-apply"],
    ),
)
def test_a_call_that_blocks_the_run_is_ended(test, tmp_path, package, backend, call):
    part, source = BLOCKS[call]
    what = f"{call} blocked the run for 3 s at {tmp_path}/site/{package}/{part}.py:"
    directory, line = the_mistake(*test({part: source}, backend, "1+1"), tmp_path / "store", what)
    assert line.startswith(f"{part} '{package}' ({package}.{part}.")
    kept = (directory / "plugin-error.txt").read_text()
    assert f"site/{package}/{part}.py" in kept
    if (backend, call) == ("local", "apply"):
        assert phases_of(directory, package)[-1] == "healed"


ENDS = {
    "invoke-awaits-a-cancelled-task": (
        {
            "client": """
            async def invoke(self, f, key, value):
                import asyncio
                task = asyncio.ensure_future(asyncio.sleep(60))
                task.cancel()
                await task
            """
        },
        "invoke raised CancelledError",
    ),
    "resigns_s": (
        {"system": "def resigns_s(self, options): raise KeyError('lease')"},
        "resigns_s raised KeyError: 'lease'",
    ),
}
"""Mistakes that only a live cluster meets."""


@pytest.mark.parametrize(("replaced", "what"), mostly_long(ENDS.items(), ["resigns_s"]))
def test_a_mistake_ends_the_run_at_once(test, tmp_path, replaced, what):
    the_mistake(*test(replaced, nodes="1+1"), tmp_path / "store", what)


def test_no_client_is_called_after_a_mistake(test, tmp_path):
    invoke = f"""
    async def invoke(self, f, key, value):
        import time
        with open({str(tmp_path / "calls")!r}, "a") as calls:
            calls.write("x")
        time.sleep(600)
    """
    what = "invoke blocked the run for 3 s"
    the_mistake(*test({"client": invoke}, nodes="1+1"), tmp_path / "store", what)
    assert (tmp_path / "calls").read_text() == "x"
