"""The image's ingredients: mirror, wheels, names by content; and, with an engine, the image."""

import ast
import sys
import time
from pathlib import Path

import docker
import pytest

from kraftproof.images.base import debian_mirror, ensure_base
from kraftproof.images.build import LIBFAKETIME_PATH, ensure_reference_image, snapshot
from kraftproof.images.context import fingerprint
from kraftproof.images.errors import ImageError
from kraftproof.images.sources import PACKAGE
from kraftproof.images.wheels import PACKAGES, locked, requirements

DEB822 = """\
Types: deb
# http://elsewhere.example/{suite}
URIs: {uri}
Suites: {suite} {suite}-updates
Components: main contrib
"""


def apt_folder(path: Path, **files: str) -> Path:
    (path / "sources.list.d").mkdir()
    for name, text in files.items():
        suffix = "sources" if text.startswith("Types") else "list"
        (path / "sources.list.d" / f"{name}.{suffix}").write_text(text)
    return path


def test_mirror_of_deb822_sources(tmp_path: Path) -> None:
    security = DEB822.format(uri="http://security.example/", suite="bookworm-security")
    own = DEB822.format(uri="http://mirror.example/debian", suite="bookworm")
    apt = apt_folder(tmp_path, a=f"{security}\n{own}")
    assert debian_mirror(apt) == "http://mirror.example/debian"


def test_mirror_of_one_line_sources_skips_third_parties_and_discs(tmp_path: Path) -> None:
    apt = apt_folder(
        tmp_path,
        a="deb cdrom:disc trixie main\n# deb http://comment.example trixie main\n",
        b="deb http://vendor.example vendor main\n",
        c="deb [signed-by=/k.gpg arch=amd64] https://mirror.example/d trixie main\n",
    )
    assert debian_mirror(apt) == "https://mirror.example/d"


def test_mirror_named_by_a_list_of_mirrors(tmp_path: Path) -> None:
    mirrors = tmp_path / "mirrors.list"
    mirrors.write_text("https://first.example/debian\nhttps://second.example/debian\n")
    apt = apt_folder(tmp_path, a=DEB822.format(uri=f"mirror+file://{mirrors}", suite="trixie"))
    assert debian_mirror(apt) == "https://first.example/debian"


def test_host_without_a_debian_mirror_is_told_so(tmp_path: Path) -> None:
    apt = apt_folder(tmp_path, a="deb http://ubuntu.example noble main\n")
    with pytest.raises(ImageError, match=r"no Debian mirror is configured in .*"):
        debian_mirror(apt)


def test_wheels_come_from_the_lock_with_hashes() -> None:
    text = requirements()
    for name in PACKAGES:
        assert f"{name}==" in text
    assert text.count("==") == len(PACKAGES)
    assert text.count("--hash=sha256:") > len(PACKAGES)
    assert "#" not in text


def test_package_missing_from_the_lock_is_named() -> None:
    with pytest.raises(ImageError, match=r"requirements\.lock names no msgspec"):
        locked("msgspec-other==1 \\\n    --hash=sha256:0\n", "msgspec")


def test_fingerprint_follows_content_place_and_words(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_text("x")
    other.write_text("x")
    first = fingerprint(tmp_path, [one], "word")
    assert fingerprint(tmp_path, [one], "word") == first
    assert fingerprint(tmp_path, [other], "word") != first
    assert fingerprint(tmp_path, [one], "wo", "rd") != first
    one.write_text("y")
    assert fingerprint(tmp_path, [one], "word") != first


def test_context_holds_the_sources_and_nothing_python_left_behind(tmp_path: Path) -> None:
    tag = snapshot(tmp_path)
    assert tag.startswith("kraftproof/reference:")
    assert (tmp_path / "Dockerfile").is_file()
    assert (tmp_path / "source" / "kraftproof" / "node" / "__init__.py").is_file()
    assert list(tmp_path.rglob("__pycache__")) == []


@pytest.mark.docker
def test_image_has_what_a_node_and_its_faults_need() -> None:
    client = docker.from_env()
    try:
        said: list[str] = []
        tag = ensure_reference_image(client, said.append)
        assert ensure_reference_image(client, said.append) == tag
        assert said[-1] == f"image {tag}: present"
        modules = "crc32c, immutables, msgspec, kraftproof.mutants, kraftproof.node.server.main"
        code = f"import asyncio, sys, {modules}; print(sys.version)"
        version = client.containers.run(tag, ["python3", "-c", code], remove=True)
        assert version.startswith(b"3.13.")
        tools = "command -v iptables; command -v ip; command -v ps"
        assert client.containers.run(tag, ["sh", "-c", tools], remove=True).count(b"\n") == 3
        fake = {"LD_PRELOAD": LIBFAKETIME_PATH, "FAKETIME": "@2001-02-03 04:05:06"}
        year = client.containers.run(tag, ["date", "+%Y"], environment=fake, remove=True)
        assert year.strip() == b"2001"
    finally:
        client.close()


@pytest.mark.docker
def test_the_base_image_of_other_systems_has_a_clock_that_can_be_set() -> None:
    client = docker.from_env()
    try:
        tag = ensure_base(client, lambda _line: None)
        fake = {"LD_PRELOAD": LIBFAKETIME_PATH, "FAKETIME": "@2001-02-03 04:05:06"}
        year = client.containers.run(tag, ["date", "+%Y"], environment=fake, remove=True)
        assert year.strip() == b"2001"
    finally:
        client.close()


@pytest.mark.docker
def test_pod_ends_at_once_when_told_to() -> None:
    client = docker.from_env()
    try:
        tag = ensure_reference_image(client, lambda _line: None)
        pod = client.containers.run(tag, detach=True)
        try:
            deadline = time.monotonic() + 30
            while "sleep infinity" not in str(pod.top()["Processes"][1:]):
                assert time.monotonic() < deadline, "the pod has not begun to sleep"
                time.sleep(0.05)
            pod.stop(timeout=20)
            assert pod.wait()["StatusCode"] == 0, "a pod that Docker has to kill ends with 137"
        finally:
            pod.remove(force=True)
    finally:
        client.close()


def test_the_image_has_every_package_that_the_node_imports() -> None:
    imported: set[str] = set()
    for path in (PACKAGE / "node").rglob("*.py"):
        for found in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(found, ast.Import):
                imported |= {alias.name.partition(".")[0] for alias in found.names}
            elif isinstance(found, ast.ImportFrom) and found.level == 0:
                imported.add((found.module or "").partition(".")[0])
    foreign = {name.replace("_", "-") for name in imported - {"kraftproof"}}
    foreign -= {name.replace("_", "-") for name in sys.stdlib_module_names}
    assert "scramp" in foreign
    # Without pyarrow a node reads no snappy, lz4 and zstd (node/wire/records/compression.py).
    assert foreign - {"pyarrow"} == set(PACKAGES)
