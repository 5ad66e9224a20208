"""The Docker backend from the wheel, where neither uv nor the repository is found."""

import shutil

import pytest

from tests.wheel.installed import Installed, install

pytestmark = [pytest.mark.wheel, pytest.mark.docker]

DOWNLOAD = """
from pathlib import Path
from kraftproof.images.wheels import download

Path("image").mkdir()
download(Path("image/wheels"), "x86_64")
print(*sorted(path.name for path in Path("image/wheels").iterdir()))
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Installed:
    return install(tmp_path_factory.mktemp("docker"), extra="[docker]", with_pip=True)


@pytest.mark.long
def test_the_images_wheels_are_fetched_by_pip(installed):
    assert shutil.which("uv", path=installed.environment / "bin") is None
    done = installed.run("python", "-c", DOWNLOAD)
    assert done.returncode == 0, done.stderr
    assert {"crc32c", "immutables", "msgspec"} < set(done.stdout.split())


def test_a_run_on_containers_is_judged_valid(installed):
    asked = ("--nodes", "3+2", "--time-limit", "8", "--store", "store")
    faults = ("--nemesis", "pause", "--fault-every", "3", "--min-bites", "1")
    done = installed.kraftproof("test", "--backend", "docker", *asked, *faults)
    assert done.returncode == 0, done.stdout + done.stderr
