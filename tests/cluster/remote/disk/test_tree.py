"""Names: a change is undone as a whole, in order, until an fsync of a directory."""

import os
from random import Random

import pytest

from kraftproof.cluster.power_loss import LOSE_ALL
from kraftproof.cluster.remote.disk.protocol import Owner
from kraftproof.cluster.remote.disk.tree import ROOT, Tree

OWNER = Owner(os.getuid(), os.getgid())
LOSING_ALL = next(seed for seed in range(99) if Random(seed).random() < LOSE_ALL)


@pytest.fixture
def tree(tmp_path):
    data = tmp_path / "data"
    (data / "sub").mkdir(parents=True)
    (data / "state").write_text("old")
    return Tree(str(data), tmp_path / "attic")


def listed(tmp_path):
    data = tmp_path / "data"
    return {
        str(path.relative_to(data)): path.read_text() if path.is_file() else None
        for path in data.rglob("*")
    }


def create(tree, directory, name, text):
    inode = tree.create(directory, name, 0o600, OWNER, is_directory=False)
    with open(tree.path(inode), "w", encoding="utf-8") as file:
        file.write(text)
    return inode


def test_a_file_replaced_without_an_fsync_of_the_directory_is_the_old_or_the_new_one(tmp_path):
    seen = set()
    for seed in range(60):
        base = tmp_path / str(seed)
        (base / "data").mkdir(parents=True)
        (base / "data" / "state").write_text("old")
        tree = Tree(str(base / "data"), base / "attic")
        root = tree.inode(ROOT)
        create(tree, root, "state.tmp", "new")
        tree.rename(root, "state.tmp", root, "state")
        tree.lose_names(Random(seed))
        tree.close()
        seen.add(tuple(sorted(listed(base).items())))
        assert sorted(os.listdir(base)) == ["data"]
    assert seen == {
        (("state", "old"),),
        (("state", "old"), ("state.tmp", "new")),
        (("state", "new"),),
    }


def test_all_changes_of_names_come_undone_in_order(tree, tmp_path):
    root, before = tree.inode(ROOT), listed(tmp_path)
    sub = tree.lookup(root, "sub")
    create(tree, sub, "log", "records")
    tree.rename(sub, "log", root, "log")
    made = tree.create(root, "made", 0o700, OWNER, is_directory=True)
    create(tree, made, "inside", "")
    tree.remove(root, "state", is_directory=False)
    tree.remove(root, "sub", is_directory=True)
    assert listed(tmp_path) == {"log": "records", "made": None, "made/inside": ""}
    tree.lose_names(Random(LOSING_ALL))
    assert listed(tmp_path) == before
    assert tree.lookup(root, "state").name == "state"


def test_an_fsync_of_a_directory_makes_all_earlier_changes_durable(tree, tmp_path):
    root = tree.inode(ROOT)
    create(tree, root, "new", "text")
    tree.remove(root, "state", is_directory=False)
    assert tree.unsynced_names == ["new", "state"]
    tree.sync_names()
    assert tree.unsynced_names == []
    assert os.listdir(tmp_path / "attic") == []
    create(tree, root, "later", "")
    tree.lose_names(Random(LOSING_ALL))
    assert listed(tmp_path) == {"sub": None, "new": "text"}


def test_a_removed_file_stays_while_it_is_open(tree, tmp_path):
    root = tree.inode(ROOT)
    file = tree.lookup(root, "state")
    file.opens = 1
    tree.remove(root, "state", is_directory=False)
    tree.sync_names()
    assert os.listdir(tmp_path / "attic") == [str(file.number)]
    file.opens = 0
    tree.sweep()
    assert os.listdir(tmp_path / "attic") == []


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (lambda tree, root: create(tree, root, "state", ""), FileExistsError),
        (lambda tree, root: tree.lookup(root, "none"), FileNotFoundError),
        (lambda tree, root: tree.remove(root, "sub", is_directory=False), IsADirectoryError),
        (lambda tree, root: tree.remove(root, "state", is_directory=True), NotADirectoryError),
        (lambda tree, root: tree.rename(root, "sub", root, "state"), NotADirectoryError),
        (lambda tree, root: tree.rename(root, "state", root, "sub"), IsADirectoryError),
        (lambda tree, _: tree.inode(77), OSError),
    ],
)
def test_what_can_not_be_done_changes_nothing(tree, tmp_path, change, error):
    before = listed(tmp_path)
    with pytest.raises(error):
        change(tree, tree.inode(ROOT))
    assert listed(tmp_path) == before
    assert tree.unsynced_names == []
