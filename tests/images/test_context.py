"""The context of a build: what the engine gets, and what a killed build would leave behind."""

import tempfile
from pathlib import Path

import docker
import pytest

from kraftproof.images.context import build, connect

pytestmark = pytest.mark.docker

TAG = "kraftproof/context-test:1"


@pytest.fixture
def client():
    engine = connect(None)
    yield engine
    engine.images.remove(TAG, force=True)
    engine.close()


def folder(path: Path, dockerfile: str = "Dockerfile") -> Path:
    (path / "context").mkdir()
    (path / dockerfile).write_text("FROM scratch\nCOPY . /\n")
    (path / "context" / "kept").write_text("kept")
    (path / "context" / "secret").write_text("secret")
    (path / "context" / ".dockerignore").write_text("# of the user\nsecret\n")
    return path / "context"


@pytest.mark.parametrize("dockerfile", ["context/Dockerfile", "outside.dockerfile"])
def test_a_build_takes_what_is_not_ignored_and_has_no_named_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, client: docker.DockerClient, dockerfile: str
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    context = folder(tmp_path, dockerfile)
    seen: list[list[Path]] = []

    post = docker.APIClient._post

    def observed(engine: docker.APIClient, *arguments: object, **options: object) -> object:
        seen.append(list(temporary.iterdir()))
        return post(engine, *arguments, **options)

    monkeypatch.setattr(docker.APIClient, "_post", observed)
    build(client, context, TAG, {}, str(tmp_path / dockerfile))
    monkeypatch.undo()
    assert seen == [[]]
    container = client.containers.create(TAG, command="none", labels={"kraftproof": "1"})
    try:
        assert b"kept" in b"".join(container.get_archive("/kept")[0])
        with pytest.raises(docker.errors.NotFound):
            container.get_archive("/secret")
    finally:
        container.remove()
