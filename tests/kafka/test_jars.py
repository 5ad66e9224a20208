"""What is said where Kafka's jars can't be had; needs neither Maven nor a network."""

import hashlib
import shutil
import subprocess
from pathlib import Path

import pytest

from kraftproof.images.errors import ImageError
from kraftproof.images.kafka import jars

BOOTSTRAP = Path(__file__).resolve().parents[2] / "scripts" / "bootstrap"
CONTENT = b"a jar"
CHECKSUMS = {"a.jar": hashlib.sha256(CONTENT).hexdigest()}


@pytest.fixture
def maven(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only program on PATH; it does what its last line says, to the folder it is given."""
    program = tmp_path / "bin" / "mvn"
    program.parent.mkdir()
    monkeypatch.setenv("PATH", str(program.parent))
    return program


def write(program: Path, script: str) -> None:
    text = '#!/bin/sh\nfor word in "$@"; do last=$word; done\ntarget=${last#-DoutputDirectory=}\n'
    program.write_text(f"{text}{script}\n")
    program.chmod(0o755)


def ensure(tmp_path: Path) -> Path:
    said: list[str] = []
    return jars.ensure(tmp_path / "cache" / "kafka", CHECKSUMS, said.append)


def test_jars_are_fetched_once_and_again_when_they_are_damaged(maven: Path, tmp_path: Path) -> None:
    write(maven, '/bin/mkdir "$target"; printf "a jar" >"$target/a.jar"')
    folder = ensure(tmp_path)
    assert (folder / "a.jar").read_bytes() == CONTENT
    (folder / "a.jar").write_bytes(b"bitten")
    assert (ensure(tmp_path) / "a.jar").read_bytes() == CONTENT
    maven.unlink()
    assert ensure(tmp_path) == folder
    assert [path.name for path in folder.parent.iterdir()] == ["kafka"]


def test_missing_maven_is_named(maven: Path, tmp_path: Path) -> None:
    assert not maven.exists()
    with pytest.raises(ImageError, match=r"^mvn is needed .*apt-get install maven.*$"):
        ensure(tmp_path)


def test_what_maven_says_is_passed_on_in_one_line(maven: Path, tmp_path: Path) -> None:
    write(maven, 'echo "[ERROR] Could not resolve it"; echo "[ERROR] more"; exit 1')
    with pytest.raises(ImageError, match=r"^Maven could not fetch .*: Could not resolve it$"):
        ensure(tmp_path)


@pytest.mark.parametrize(
    ("script", "named"),
    [('printf x >"$target/a.jar"', r"a\.jar"), ('printf "a jar" >"$target/b.jar"', r"a\.jar")],
)
def test_another_file_than_the_one_named_is_refused(
    maven: Path, tmp_path: Path, script: str, named: str
) -> None:
    write(maven, f'/bin/mkdir "$target"; {script}')
    with pytest.raises(
        ImageError, match=rf"{named} is missing or differs from the checksum in jars\.sha256"
    ):
        ensure(tmp_path)
    assert not (tmp_path / "cache" / "kafka").exists()


def test_every_jar_of_the_list_has_a_checksum_and_kafka_is_among_them() -> None:
    checksums = jars.read_checksums()
    assert f"kafka-clients-{jars.VERSION}.jar" in checksums
    assert all(len(digest) == 64 for digest in checksums.values())


def test_bootstrap_before_setup_is_refused_in_one_line(tmp_path: Path) -> None:
    script = tmp_path / "scripts" / "bootstrap" / "kafka.sh"
    shutil.copytree(BOOTSTRAP, script.parent)
    done = subprocess.run(
        ["sh", str(script)], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (f"bootstrap: no {tmp_path}/.venv/bin/python: run 'make setup' first\n")


def test_a_release_without_committed_checksums_keeps_those_of_its_first_fetch(
    maven: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    write(maven, '/bin/mkdir "$target"; printf "a jar" >"$target/a.jar"')
    said: list[str] = []
    folder = jars.ensure_jars(said.append, "3.4.0")
    recorded = folder.with_name("kafka-3.4.0.sha256")
    assert jars.read_checksums(recorded) == CHECKSUMS
    (folder / "a.jar").write_bytes(b"bitten")
    write(maven, '/bin/mkdir "$target"; printf "other" >"$target/a.jar"')
    with pytest.raises(ImageError, match=r"a\.jar is missing or differs .* kafka-3\.4\.0\.sha256"):
        jars.ensure_jars(said.append, "3.4.0")
    assert len(said) == 2


def test_an_unknown_release_is_refused_with_those_that_exist() -> None:
    with pytest.raises(ImageError, match=r"^Kafka '3\.2\.0' can't run here, only 3\.3\.0, .*4\.3"):
        jars.ensure_jars(str, "3.2.0")
