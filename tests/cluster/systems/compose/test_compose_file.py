"""Compose files: what is read of them, and one clear line for each mistake."""

from pathlib import Path

import pytest

from kraftproof.cluster.systems.compose.errors import ComposeFileError
from kraftproof.cluster.systems.compose.file import ComposeFile, read_compose
from kraftproof.cluster.systems.compose.service import Build, Volume

FULL = """
version: "3.9"
x-common: &common
  environment: {SHARED: "1", PORT: 6000}
  expose: [7000]
volumes:
  kept:
networks:
  inner: {}
services:
  store:
    <<: *common
    image: "redis:${TAG:-8}"
    command: redis-server --save "" --port 6000
    env_file: store.env
    ports: ["127.0.0.1:16000:6000", "7001/tcp", {target: 7002, published: 1}]
    volumes: ["kept:/data", "./conf:/etc/conf:ro", "/scratch",
              {type: volume, source: kept, target: /more}, {type: tmpfs, target: /fast}]
    tmpfs: /run
    user: "1000:1000"
    cpus: 0.5
    mem_limit: 300m
    deploy: {replicas: 2, resources: {limits: {memory: 200m}}}
    networks: {inner: {aliases: [the-store]}}
    healthcheck: {test: "redis-cli ping", interval: 1s500ms, retries: 3}
    restart: always
    stop_grace_period: 1m
  web:
    build: {context: app, args: {MODE: "${MODE-none}"}, target: final}
    entrypoint: ["run", "$$HOME"]
    environment: ["A=b=c", "EMPTY="]
    expose: "80"
    depends_on: {store: {condition: service_healthy}}
    container_name: front
  debug:
    image: tools
    profiles: [debug]
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "docker-compose.yml"
    path.write_text(text)
    return path


@pytest.fixture
def full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ComposeFile:
    monkeypatch.delenv("MODE", raising=False)
    monkeypatch.setenv("TAG", "")
    (tmp_path / ".env").write_text("MODE=fast\nTAG=7\n")
    (tmp_path / "store.env").write_text("FROM_FILE=yes\nSHARED=0\n")
    (tmp_path / "conf").mkdir()
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "Dockerfile").touch()
    return read_compose(written(tmp_path, FULL))


def test_a_service_with_an_image(full: ComposeFile, tmp_path: Path) -> None:
    store, _ = full.services
    assert (store.name, store.count, store.image, store.build) == ("store", 2, "redis:8", None)
    assert store.command == ["redis-server", "--save", "", "--port", "6000"]
    assert store.environment == {"FROM_FILE": "yes", "SHARED": "1", "PORT": "6000"}
    assert store.ports == (6000, 7001, 7002, 7000)
    assert store.volumes == (
        Volume(target="/data", source="kept", is_named=True),
        Volume(target="/etc/conf", source=str(tmp_path / "conf"), is_read_only=True),
        Volume(target="/scratch"),
        Volume(target="/more", source="kept", is_named=True),
    )
    assert store.tmpfs == ("/run", "/fast")
    assert store.aliases == ("the-store",)
    assert store.settings == {
        "user": "1000:1000",
        "nano_cpus": 500_000_000,
        "mem_limit": "200m",
        "healthcheck": {
            "test": ["CMD-SHELL", "redis-cli ping"],
            "interval": 1_500_000_000,
            "retries": 3,
        },
    }


def test_a_service_that_is_built_and_waits_for_another(full: ComposeFile, tmp_path: Path) -> None:
    _, web = full.services
    assert web.build == Build(
        context=str(tmp_path / "app"), arguments={"MODE": "fast"}, target="final"
    )
    assert web.entrypoint == ["run", "$HOME"]
    assert web.environment == {"A": "b=c", "EMPTY": ""}
    assert (dict(web.after), web.aliases, web.ports) == ({"store": True}, ("front",), (80,))


def test_what_has_no_meaning_for_a_node_is_named(full: ComposeFile) -> None:
    assert full.services[0].left_out == ("restart", "stop_grace_period")
    assert full.left_out == ("debug",)


SERVICE = "services:\n  db:\n    image: redis\n    expose: [1]\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("services: [", "line 1: expected the node content, but found '<stream end>'"),
        ("services:\n  db: {image: a}\n  db: {image: b}\n", 'found duplicate key "db"'),
        ("- a\n", ": a map is expected, not a list"),
        ("volumes: {}\n", "services: a map is expected, not nothing"),
        ("services: {}\n", "services: names no service, so there is no node"),
        ("models: {}\n" + SERVICE, "line 1: models: is not supported at the top level"),
        ("secrets: {key: {external: true}}\n" + SERVICE, "secrets.key.external: is not supported"),
        ("secrets: {key: {}}\n" + SERVICE, "secrets.key: names no file"),
        (SERVICE + "    secrets: [key]\n", "'key' is not declared under secrets of the file"),
        ("services:\n  db: redis\n", "services.db: a map is expected, not 'redis'"),
        ("services:\n  db: {expose: [1]}\n", "services.db.image: is missing, and so is build"),
        ("services:\n  db: {image: a}\n", "services.db.ports: is missing, and so is expose"),
        ("services:\n  Db: {image: a, expose: [1]}\n", "service 'Db': a name of lower-case"),
        (SERVICE + "    extends: x\n", "services.x: there is no such service, only db"),
        (SERVICE + "    extends: db\n", "services.db.extends: db extends db: that is a circle"),
        (
            SERVICE + "    extends: {service: x, file: y}\n",
            "services.db.extends.file: is not supported: extend a service of the same file",
        ),
        (
            SERVICE + "    ports: ['80-90']\n",
            "line 5: services.db.ports: '80-90': a port such as 8080:80",
        ),
        (SERVICE + "    depends_on: [web]\n", "services.db.depends_on: there is no service 'web'"),
        (SERVICE + "    depends_on: [db]\n", "the service would wait for itself"),
        (
            SERVICE + "    depends_on: {a: {condition: service_completed_successfully}}\n",
            "services.db.depends_on.a: the condition service_completed_successfully is not",
        ),
        (SERVICE + "    volumes: [data:/d]\n", "the volume 'data' is not declared under volumes"),
        (SERVICE + "    volumes: ['./none:/d']\n", "none: there is no such file or folder"),
        (SERVICE + "    env_file: none.env\n", "none.env: there is no such file"),
        (SERVICE + "    build: nowhere\n", "nowhere: there is no such folder"),
        (SERVICE + "    environment: [HOME]\n", "HOME has no value: write HOME=${HOME}"),
        (SERVICE + "    command: 'a \"b'\n", "services.db.command: 'a \"b': No closing quotation"),
        (SERVICE + "    command: '${X:?say it}'\n", "the variable X is not set: say it"),
        (SERVICE + "    command: '5 $ 6'\n", "'5 $ 6': a $ begins no variable"),
        (SERVICE + "    healthcheck: {interval: soon}\n", "'soon': a duration such as 10s"),
        (SERVICE + "    healthcheck: {start_interval: 1s}\n", "start_interval: is not supported"),
        (SERVICE + "    scale: none\n", "services.db.scale: 'none': a whole number is expected"),
        (SERVICE + "    cpus: many\n", "services.db.cpus: 'many': a number of processors"),
        (
            "networks: {n: }\n" + SERVICE + "    networks: {n: {ipv4_address: 1.2.3.4}}\n",
            "n.ipv4_address: is not",
        ),
        ("x-kraftproof: {class: x}\n" + SERVICE, "x-kraftproof: 'class' is unknown"),
    ],
)
def test_a_mistake_is_one_line_with_its_place(text: str, said: str, tmp_path: Path) -> None:
    path = written(tmp_path, text)
    with pytest.raises(ComposeFileError) as refused:
        read_compose(path)
    sentence = str(refused.value)
    assert sentence.startswith(f"{path}: ")
    assert said in sentence
    assert "\n" not in sentence


def test_a_file_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(ComposeFileError, match=r"none\.yml: can't be read: No such file"):
        read_compose(tmp_path / "none.yml")


EXTENDED = """
secrets:
  password: {file: password.txt}
configs:
  rules: {file: ./rules.conf}
services:
  base:
    image: store
    profiles: [none]
    environment: {A: "1", B: "2"}
    expose: [7000]
    volumes: ["./conf:/etc/conf:ro", "/scratch"]
    deploy: {replicas: 3, resources: {limits: {memory: 200m}}}
    secrets: [password]
  db:
    extends: {service: base}
    command: serve
    environment: ["B=3", "C=4"]
    expose: [7001]
    volumes: ["./other:/etc/conf"]
    deploy: {replicas: 2}
    configs: [{source: rules, target: /etc/rules.conf}]
  replica:
    extends: db
    command: follow
"""


def test_a_service_extends_another_and_reads_secrets(tmp_path: Path) -> None:
    for name in ("password.txt", "rules.conf", "conf", "other"):
        (tmp_path / name).touch()
    path = tmp_path / "compose.yml"
    path.write_text(EXTENDED)
    file = read_compose(path)
    assert file.left_out == ("base",)
    db, replica = file.services
    assert (db.name, db.image, db.count, db.command) == ("db", "store", 2, ["serve"])
    assert db.environment == {"A": "1", "B": "3", "C": "4"}
    assert db.ports == (7000, 7001)
    assert db.settings["mem_limit"] == "200m"
    assert {one.target: (one.source, one.is_read_only) for one in db.volumes} == {
        "/scratch": (None, False),
        "/etc/conf": (str(tmp_path / "other"), False),
        "/run/secrets/password": (str(tmp_path / "password.txt"), True),
        "/etc/rules.conf": (str(tmp_path / "rules.conf"), True),
    }
    assert replica.command == ["follow"]
    assert (replica.environment, replica.volumes) == (db.environment, db.volumes)
