"""Mistakes in Compose files that Docker would refuse late, or take in another meaning."""

from pathlib import Path

import pytest

from kraftproof.cluster.systems.compose.container import container_of
from kraftproof.cluster.systems.compose.errors import ComposeFileError
from kraftproof.cluster.systems.compose.file import read_compose

DB = "services:\n  db:\n    image: redis\n    expose: [1]\n"
ONE = "{image: a, expose: [1]}"
HIDDEN = "{image: a, expose: [1], profiles: [p]}"
MISTAKES = {
    "image-empty": ("services: {db: {image: '', expose: [1]}}", "'': the name of an image such as"),
    "image-blank": ("services: {db: {image: 'A B', expose: [1]}}", "'A B': the name of an image"),
    "image-upper": ("services: {db: {image: Redis, expose: [1]}}", "'Redis': the name of an image"),
    "port-0": (DB + "    ports: [0]", "services.db.ports: 0: a port from 1 to 65535 is expected"),
    "port-70000": (DB + "    ports: ['1:70000']", "70000: a port from 1 to 65535 is expected"),
    "expose-99999": (DB.replace("[1]", "[99999]"), "services.db.expose: 99999: a port from 1 to"),
    "ports-map": (DB + "    ports: {80: 80}", "services.db.ports: a list is expected, not a map"),
    "port-protocol": (DB + "    ports: [{target: 1, protocol: sctp}]", "'sctp': tcp or udp is"),
    "port-key": (DB + "    ports: [{target: 1, taget: 2}]", "services.db.ports.taget: is not supp"),
    "network": (DB + "    networks: [inner]", "the network 'inner' is not declared under networks"),
    "network-map": (DB + "    networks: {inner: }", "the network 'inner' is not declared under"),
    "network-text": (DB + "    networks: default", "'default': a list or a map of networks is"),
    "networks-list": ("networks: [inner]\n" + DB, "networks: a map is expected, not a list"),
    "network-key": ("networks: {n: {intrenal: true}}\n" + DB, "networks.n.intrenal: is not supp"),
    "host-name": (DB + "    hostname: 'a b'", "services.db.hostname: 'a b': a host name has"),
    "shared-alias": (
        f"services: {{a: {{image: x, expose: [1], hostname: b}}, b: {ONE}}}",
        "services.b: the host name 'b' is that of the service a too",
    ),
    "shared-number": (
        f"services: {{a: {{image: x, expose: [1], scale: 2}}, a-2: {ONE}}}",
        "services.a-2: the host name 'a-2' is that of the service a too",
    ),
    "localhost": (f"services: {{localhost: {ONE}}}", "'localhost' is that of the machine itself"),
    "long-name": (f"services: {{{'a' * 64}: {ONE}}}", "- and _ is expected, at most 63 of them"),
    "depends-key": (DB + "    depends_on: {x: {conditoin: y}}", "depends_on.x.conditoin: is not"),
    "depends-text": (DB + "    depends_on: x", "'x': a list or a map of services is expected"),
    "depends-profile": (
        f"services: {{a: {{image: x, expose: [1], depends_on: [b]}}, b: {HIDDEN}}}",
        "services.a.depends_on: the service 'b' has a profile and is left out",
    ),
    "depends-unchecked": (
        "services: {a: {image: x, expose: [1], depends_on: {b: {condition: service_healthy}}}, "
        "b: {image: x, expose: [1], healthcheck: {test: [NONE]}}}",
        "services.a.depends_on: service_healthy needs a health check, and b has disabled its own",
    ),
    "profiles": (
        f"services: {{a: {HIDDEN}}}",
        "services: each service has a profile and is left out (a), so there is no node",
    ),
    "no-dockerfile": (
        "services: {db: {build: ., expose: [1]}}",
        "services.db.build.dockerfile: FOLDER/Dockerfile: there is no such file",
    ),
    "build-url": (
        "services: {db: {build: 'https://a/b.git', expose: [1]}}",
        "https://a/b.git: is not supported: the context is a folder of this machine",
    ),
    "env-binary": (DB + "    env_file: bin.env", "FOLDER/bin.env: can't be read: it is no UTF-8"),
    "env-name": (DB + "    environment: ['=x']", "services.db.environment: a variable has no name"),
    "test-words": (
        DB + "    healthcheck: {test: [redis-cli, ping]}",
        "healthcheck.test: a list begins with NONE, CMD or CMD-SHELL, not with 'redis-cli'",
    ),
    "test-empty": (DB + "    healthcheck: {test: []}", "CMD or CMD-SHELL, not with nothing"),
    "test-alone": (DB + "    healthcheck: {test: [CMD]}", "CMD is followed by a command"),
    "interval": (DB + "    healthcheck: {interval: 1us}", "'1us': at least 1ms is expected"),
    "retries": (DB + "    healthcheck: {retries: -1}", "-1: at least 0 is expected"),
    "disable": (DB + "    healthcheck: {disable: sure}", "'sure': true or false is expected"),
    "memory": (DB + "    mem_limit: lots", "'lots': a size such as 300m or 2g is expected"),
    "little-memory": (DB + "    mem_limit: 1k", "services.db.mem_limit: '1k': at least 6m is"),
    "limit": (
        DB + "    deploy: {resources: {limits: {memory: lots}}}",
        "'lots': a size such as 300m or 2g is expected",
    ),
    "shm": (DB + "    shm_size: x", "services.db.shm_size: 'x': a size such as 300m"),
    "cpus-infinite": (DB + "    cpus: .inf", "inf: a number of processors such as 0.5 is expected"),
    "cpus-negative": (DB + "    cpus: -1", "-1: a number of processors such as 0.5 is expected"),
    "signal": (DB + "    stop_signal: SIGNOPE", "'SIGNOPE': a signal such as SIGTERM is expected"),
    "working-dir": (DB + "    working_dir: x", "'x': an absolute path in the container is expec"),
    "capability": (DB + "    cap_add: [NOPE]", "'NOPE': a capability of Linux such as NET_ADMIN"),
    "init": (DB + "    init: maybe", "services.db.init: 'maybe': true or false is expected"),
    "privileged": (DB + "    privileged: yes please", "'yes please': true or false is expected"),
    "two-volumes": (DB + "    volumes: ['/x', '/x']", "'/x' is the target of two volumes"),
    "mode": (DB + "    volumes: ['/:/d:rwx']", "the mode 'rwx' is unknown, such as ro and rw"),
    "volumes-map": (DB + "    volumes: {a: b}", "services.db.volumes: a list is expected, not a"),
    "volume-key": (DB + "    volumes: [{type: bind, foo: 1}]", "services.db.volumes.foo: is not"),
    "no-source": (DB + "    volumes: [{type: bind, target: /x}]", "of the type bind has no source"),
    "tmpfs": (DB + "    tmpfs: run", "services.db.tmpfs: 'run': an absolute path in the container"),
    "command-map": (DB + "    command: {a: b}", "services.db.command: a text is expected, not a"),
    "secret": (
        "secrets: {k: {file: ./none}}\n" + DB + "    secrets: [k]",
        "services.db.secrets: 'k': FOLDER/none: there is no such file",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_early_line(mistake: str, tmp_path: Path) -> None:
    text, said = MISTAKES[mistake]
    (tmp_path / "bin.env").write_bytes(b"\xff\xfe\x00A=b\n")
    path = tmp_path / "docker-compose.yml"
    path.write_text(text + "\n")
    with pytest.raises(ComposeFileError) as refused:
        read_compose(path)
    line = str(refused.value)
    assert line.startswith(f"{path}: ")
    assert said.replace("FOLDER", str(tmp_path)) in line
    assert line.count(str(path)) == 1
    assert "\n" not in line


RIGHT = """
networks:
  inner: {driver: bridge, internal: true}
services:
  db:
    image: registry.example:5000/team/store:1.2@sha256:SUM
    expose: [65535]
    networks: [inner, default]
    tmpfs: ["/run:size=64m", /fast]
    working_dir: /srv
    stop_signal: SIGRTMIN+3
    mem_limit: 1.5G
    cap_add: [CAP_NET_ADMIN, sys_time]
    init: true
    healthcheck: {test: [NONE], interval: 0s, retries: 0}
  web:
    image: localhost/a__b.c-d
    profiles: []
    expose: ["1"]
    stop_signal: "9"
    volumes: ["/:/d:ro,z", {type: bind, source: /, target: /e, read_only: true}]
"""


def test_right_values_are_taken(tmp_path: Path) -> None:
    path = tmp_path / "docker-compose.yml"
    path.write_text(RIGHT.replace("SUM", "0" * 64))
    db, web = read_compose(path).services
    assert db.settings["stop_signal"] == "SIGRTMIN+3"
    assert (db.settings["mem_limit"], db.settings["init"]) == ("1.5G", True)
    assert [volume.is_read_only for volume in web.volumes] == [True, True]
    container = container_of(db, "redis", tmp_path, tmp_path)
    assert container._kwargs["tmpfs"] == {"/run": "size=64m", "/fast": ""}
