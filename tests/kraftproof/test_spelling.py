"""A line that refuses an unknown name has the nearest known spelling, wherever a name is read."""

import pytest

from kraftproof.spelling import nearest
from tests.support.command import call

HISTORY = '{"type":"invoke","process":0,"f":"read","key":"k","value":null}\n'
FILES = {
    "history.jsonl": HISTORY,
    "fault.txt": "1 2 parttion\n",
    "field.txt": "1 2 kill taget=1\n",
    "value.txt": "1 2 disk-full target=1 trouble={failure=ful;slow_ns=0}\n",
    "schedule.txt": "kraftproof schedule 1\nsed 3\n",
    "row/row.toml": "verson = 3\n[run]\n",
    "hosts.toml": '[[host]]\nadress = "127.0.0.1"\n',
    "plan.toml": "[simulations]\n",
    "mine.py": "class Server:\n    pass\n",
}
CASES = {
    "command": ("chek", "check"),
    "backend": ("test --backend dokcer", "docker"),
    "system": ("test --system apache-kafk", "apache-kafka"),
    "class": ("test --system mine.py:Serverr", "Server"),
    "workload": ("test --workload topcs", "topics"),
    "fault": ("test --nemesis parttion", "partition"),
    "capitals": ("test --nemesis PARTITION", "partition"),
    "line": ("test --faults fault.txt", "partition"),
    "field": ("test --faults field.txt", "target"),
    "value": ("test --faults value.txt", "full"),
    "profile": ("test --timeouts choas", "chaos"),
    "expectation": ("test --expect declard", "declared"),
    "engine": ("test --engine inlin", "inline"),
    "mutant": ("test --mutant g1", "G1"),
    "role": ("test --nodes controler=3,broker=3", "controller"),
    "sim-workload": ("sim --seeds 0:1 --workload topcs", "topics"),
    "schedule": ("sim --schedule schedule.txt", "seed"),
    "model": ("check history.jsonl --model cas-regster", "cas-register"),
    "engine-of-check": ("check history.jsonl --model set --engine sprak", "spark"),
    "generate": ("generate --model qeue --out x.jsonl", "queue"),
    "corruption": ("generate --model log --corrupt lostt --out x.jsonl", "lost"),
    "mix": ("generate --model queue --mix enqueu=1 --out x.jsonl", "enqueue"),
    "kind": ("list workload", "workloads"),
    "fuzz": ("fuzz --backend locl", "local"),
    "row": ("track-record row --rows row --page page.md", "version"),
    "hosts": ("test --backend ssh --hosts hosts.toml", "address"),
    "night": ("nightly --plan plan.toml", "simulation"),
    "option": ("test --workloda topics", "--workload"),
}


@pytest.mark.parametrize(("line", "expected"), CASES.values(), ids=CASES)
def test_an_unknown_name_is_refused_with_the_nearest(tmp_path, monkeypatch, line, expected):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    done = call(*line.split())
    assert done.returncode == 3, done.stdout + done.stderr
    said = done.stderr.strip().splitlines()
    assert len(said) == 1, said
    assert f"did you mean {expected}?" in said[0], said


def test_only_a_near_spelling_is_named():
    assert nearest("partion", ["kill", "partition"]) == " (did you mean partition?)"
    assert nearest("G12", ["g11"]) == ""
    assert nearest("", ["kill"]) == nearest("x" * 10**6, ["x"]) == nearest(3, ["3"]) == ""
