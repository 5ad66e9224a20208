"""Owners and modes on a mounted disk: as on an ordinary disk for a node that is not root."""

import asyncio
import os
import stat
import subprocess
import sys

import pytest

from kraftproof.cluster.remote.disk.node_disk import NodeDisk

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="a mount needs root")

USER, GROUP, OTHER_GROUP = 4711, 4712, 4713
"""Ids that no account of a machine has."""

WORK = """
os.umask(0o027)
with open("log", "w") as file:
    file.write("first")
    os.fsync(file.fileno())
os.mkdir("sub")
with open("sub/state.tmp", "w") as file:
    file.write("second")
os.rename("sub/state.tmp", "sub/state")
os.chmod("log", 0o600)
with open("log", "a") as file:
    file.write(", appended")
print(open("log").read(), open("sub/state").read())
"""


@pytest.fixture
def data(tmp_path):
    directory = tmp_path / "data"
    directory.mkdir()
    return directory


def mounted(data, work):
    """Return the result of a function that runs while a disk is mounted over `data`."""

    async def whole():
        disk = NodeDisk(data, data.with_name("report.jsonl"), "seed", 0)
        await disk.mount()
        try:
            return await asyncio.to_thread(work)
        finally:
            await disk.unmount()

    return asyncio.run(whole())


BECOME_USER = f"""
import os
os.setgroups([{OTHER_GROUP}])
os.setgid({GROUP})
os.setuid({USER})
"""
"""Only now, since the user may not be able to read the interpreter's files."""


def as_user(data, code):
    """Return a finished Python program of the user, started inside the directory."""
    command = [sys.executable, "-S", "-c", BECOME_USER + code]
    return subprocess.run(command, cwd=data, capture_output=True, text=True, check=False)


def owner(path):
    found = path.stat()
    return (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode))


def test_a_process_owns_what_it_makes(data):
    def work():
        os.chown(data, USER, GROUP)
        done = as_user(data, WORK)
        return done, {name: owner(data / name) for name in ("log", "sub", "sub/state")}

    done, owners = mounted(data, work)
    assert done.stdout.split("\n")[0] == "first, appended second", done.stderr
    assert owners == {
        "log": (USER, GROUP, 0o600),
        "sub": (USER, GROUP, 0o750),
        "sub/state": (USER, GROUP, 0o640),
    }
    assert {name: owner(data / name) for name in owners} == owners, "the files below the mount"


def test_what_root_makes_and_gives_away_is_the_users(data):
    def work():
        (data / "root").write_text("of root")
        (data / "given").write_text("of the user")
        os.chown(data / "given", USER, GROUP)
        os.chmod(data / "given", 0o400)
        return as_user(data, "print(open('given').read()); open('root', 'a')"), owner(data / "root")

    done, of_root = mounted(data, work)
    assert done.stdout == "of the user\n"
    assert "PermissionError" in done.stderr
    assert of_root[:2] == (0, 0)


def test_a_user_gives_files_to_its_own_groups_only(data):
    code = f"""
open("log", "w").close()
os.chown("log", -1, {OTHER_GROUP})
try:
    os.chown("log", 0, -1)
except PermissionError:
    print("refused")
"""

    def work():
        os.chown(data, USER, GROUP)
        return as_user(data, code), owner(data / "log")

    done, found = mounted(data, work)
    assert done.stdout == "refused\n", done.stderr
    assert found[:2] == (USER, OTHER_GROUP)


def test_a_directory_with_the_group_bit_gives_its_group(data):
    code = "os.umask(0o022); open('file', 'w').close(); os.mkdir('sub')"

    def work():
        os.chown(data, USER, OTHER_GROUP)
        os.chmod(data, 0o2770)
        return as_user(data, code), owner(data / "file"), owner(data / "sub")

    done, file, directory = mounted(data, work)
    assert done.stderr == ""
    assert file == (USER, OTHER_GROUP, 0o644)
    assert directory == (USER, OTHER_GROUP, 0o2755)
