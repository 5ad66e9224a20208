"""Mistakes in a system of one file: each is one line that names the call or the field."""

import re
import sys
from pathlib import Path

import pytest

from kraftproof import cli
from kraftproof.cluster.remote import readiness
from kraftproof.cluster.systems.deployment import Deployment

ROOT = Path(__file__).resolve().parents[3]
SHORT = ("test", "--workload", "register", "--nemesis", "none", "--time-limit", "2")
MISTAKES = {
    "deployment": (
        "def deployment(self, site): raise KeyError('port')",
        "deployment raised KeyError: 'port'",
    ),
    "no-such-port": (
        "def deployment(self, site): return Deployment(command=(str(site.address('http')),))",
        "deployment raised ValueError: the node has no port 'http', only client: see ports()",
    ),
    "packages-is-a-text": (
        "def deployment(self, site):\n"
        "        from kraftproof.cluster.systems.programs import DebianPackages\n"
        "        return Deployment(command=('true',), image=DebianPackages(packages='redis'))",
        "deployment raised ValueError: packages 'redis': a tuple of texts is expected",
    ),
    "deployment-is-none": (
        "def deployment(self, site): return None",
        "deployment returned None; a Deployment is expected",
    ),
    "command-is-a-text": (
        "def deployment(self, site): return Deployment(command='python3 server.py')",
        "deployment raised ValueError: command 'python3 server.py': a tuple of texts is expected",
    ),
    "environment-of-a-number": (
        "def deployment(self, site):\n"
        "        return Deployment(command=('true',), environment={'PORT': 7000})",
        "deployment raised ValueError: environment['PORT']: a text is expected, not 7000",
    ),
    "path-outside": (
        "def deployment(self, site):\n"
        "        return Deployment(command=('true',), files={'/etc/kv': ''})",
        "deployment raised ValueError: path '/etc/kv': must lie below the node's directory",
    ),
    "ports": ("def ports(self, node): return {'client': 'x'}", "ports returned {'client': 'x'}; "),
    "lacks": ("async def lacks(self, cluster): return 7", "lacks returned 7; a text or None"),
    "after-no-node": (
        "def deployment(self, site):\n"
        "        from kraftproof.cluster.systems.system import Dependency\n"
        "        return Deployment(command=('true',), after=(Dependency(node_id=9),))",
        "deployment raised ValueError: after of node 1: node 9 is not in the cluster",
    ),
    "after-itself": (
        "def deployment(self, site):\n"
        "        from kraftproof.cluster.systems.system import Dependency\n"
        "        after = Dependency(node_id=site.node.node_id % 3 + 1)\n"
        "        return Deployment(command=('true',), after=(after,))",
        "deployment raised ValueError: after of node 1: the node would wait for itself",
    ),
    "set-up": (
        "def deployment(self, site): return Deployment(command=('true',), setup=(('false',),))",
        "('false',) ended with status 1: nothing printed",
    ),
}


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"files": {"server.py": b"\xff"}}, "files['server.py']: a text is expected, not b'\\xff'"),
        ({"files": {7: "x"}}, "files[7]: a text is expected"),
        ({"files": "server.py"}, "files 'server.py': a dict of texts is expected"),
        ({"environment": {"PORT": 7000}}, "environment['PORT']: a text is expected, not 7000"),
        ({"environment": None}, "environment None: a dict of texts is expected"),
        ({"data": "data"}, "data 'data': a tuple of texts is expected"),
        ({"logs": (Path("a"),)}, "a tuple of texts is expected"),
        ({"setup": ("make",)}, "setup 'make': a tuple of texts is expected"),
        ({"after": (1,)}, "after (1,): a tuple of Dependency is expected"),
        ({"image": 7}, "image 7: a name or a function is expected"),
        ({"programs": "/opt"}, "programs '/opt': a function is expected"),
        ({"stop_signal": "SIGTERM"}, "a signal such as signal.SIGTERM is expected"),
        ({"probe": "ping"}, "probe 'ping': a bytes object is expected"),
        ({"clock_log": None}, "clock_log None: a text is expected"),
        ({"has_tls": "yes"}, "has_tls 'yes': True or False is expected"),
        ({"environment": {"A=B": "1"}}, "environment['A=B']: a name without = is expected"),
        ({"command": ("a\0b",)}, "'a\\x00b': a text without a null character is expected"),
        ({"files": {"n": "\ud800"}}, "'\\ud800': a text that UTF-8 can have is expected"),
        ({"files": {"a/b": ""}, "data": ("a/b/c",)}, "path 'a/b': is a file, and a directory of"),
    ],
)
def test_a_field_of_a_wrong_type_is_refused_by_name(fields, expected):
    with pytest.raises(ValueError, match=re.escape(expected)):
        Deployment(**({"command": ("true",)} | fields))


@pytest.fixture(autouse=True)
def kv_is_importable(monkeypatch):
    """Let plug-ins import examples/kv/system.py, and not another file of this name."""
    monkeypatch.delitem(sys.modules, "system", raising=False)
    monkeypatch.syspath_prepend(ROOT / "examples/kv")
    yield
    sys.modules.pop("system", None)  # tests of other examples import theirs


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_of_the_system_is_one_line_that_names_the_call(mistake, tmp_path, capsys):
    method, expected = MISTAKES[mistake]
    path = tmp_path / "mine.py"
    path.write_text(
        f"from system import KV, Deployment\nclass Mine(KV):\n    name = 'mine'\n    {method}\n"
    )
    status = cli.run([*SHORT, "--system", f"{path}:Mine", "--store", str(tmp_path / "store")])
    said = capsys.readouterr().out
    assert status == 2
    assert any(expected in line for line in said.splitlines()), said
    assert "Traceback" not in said


def test_a_check_that_never_answers_ends_the_start(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(readiness, "LACKS_NS", 200_000_000)
    path = tmp_path / "mine.py"
    path.write_text(
        "import asyncio\nfrom system import KV\nclass Mine(KV):\n    name = 'mine'\n"
        "    async def lacks(self, cluster): await asyncio.Event().wait()\n"
    )
    store = str(tmp_path / "store")
    assert cli.run([*SHORT, "--system", f"{path}:Mine", "--store", store]) == 2
    assert "lacks raised TimeoutError: not done within 0.2 s" in capsys.readouterr().out


def test_a_set_up_that_fails_and_a_program_that_is_not_there_are_told_in_one_line(tmp_path, capsys):
    path = tmp_path / "mine.py"
    path.write_text(
        "from dataclasses import replace\n"
        "from system import KV\n"
        "class NoSetUp(KV):\n    name = 'mine'\n"
        "    def deployment(self, site):\n"
        "        setup = (('sh', '-c', 'echo no licence; exit 3'),)\n"
        "        return replace(super().deployment(site), setup=setup)\n"
        "class NoProgram(KV):\n    name = 'mine'\n"
        "    def deployment(self, site):\n"
        "        return replace(super().deployment(site), setup=(('no-such-program',),))\n"
    )
    for made, expected in (("NoSetUp", "no licence"), ("NoProgram", "no-such-program: No such")):
        status = cli.run([*SHORT, "--system", f"{path}:{made}", "--store", str(tmp_path / "store")])
        said = capsys.readouterr().out
        assert status == 2
        assert any("set-up of" in line and expected in line for line in said.splitlines())
