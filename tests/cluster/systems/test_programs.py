"""Images of a Dockerfile and of packages: built once for each content, mistakes in one line."""

import secrets
from pathlib import Path

import pytest

from kraftproof.cluster.docker.engine import connect_engine
from kraftproof.cluster.protocol import ClusterError
from kraftproof.cluster.systems import programs
from kraftproof.cluster.systems.programs import DebianPackages, Dockerfile, GoProgram
from kraftproof.images.base import ensure_base
from kraftproof.images.errors import ImageError


@pytest.fixture
def engine():
    client = connect_engine()
    yield client
    client.close()


def archived(engine, tag, path):
    """A file of an image, as a tar archive."""
    container = engine.containers.create(tag, ["true"], labels={"kraftproof": "1"})
    try:
        return b"".join(container.get_archive(path)[0])
    finally:
        container.remove()


@pytest.mark.docker
def test_a_dockerfile_is_built_once_for_each_content(engine, tmp_path):
    path = tmp_path / "my.Dockerfile"
    path.write_text(f"FROM {ensure_base(engine, print)}\nCOPY greeting /greeting\n")
    tags, lines = [], []
    try:
        for text in (secrets.token_hex(8), secrets.token_hex(8)):
            (tmp_path / "greeting").write_text(text)
            tags += [Dockerfile(path=str(path))(engine, lines.append) for _ in range(2)]
            assert text.encode() in archived(engine, tags[-1], "/greeting")
        assert engine.images.get(tags[0]).labels["kraftproof"] == "1"
        assert len(set(tags)) == 2
        assert [line.partition(": ")[2][:8] for line in lines] == ["building", "present"] * 2
    finally:
        for tag in set(tags):
            engine.images.remove(tag)


@pytest.mark.docker
def test_mistakes_in_images_are_one_line(engine, tmp_path):
    with pytest.raises(ImageError, match=r"there is no such Dockerfile$"):
        Dockerfile(path=str(tmp_path / "Dockerfile"))(engine, print)
    with pytest.raises(
        ImageError, match=r"failed: .*last output: E: Unable to locate package no-such-package\)$"
    ):
        DebianPackages(packages=("no-such-package",))(engine, print)


def test_a_release_that_go_does_not_find_is_one_line(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    program = GoProgram(name="etcd", module="example.com/none", version="v1.2.3", main="")
    monkeypatch.setattr(programs.shutil, "which", lambda name: None)
    with pytest.raises(ClusterError, match=r"^etcd v1\.2\.3: needs go on PATH to build it$"):
        program.directory(print)
    assert list(Path(tmp_path).rglob("etcd*")) == []
