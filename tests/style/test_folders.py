"""A folder has at most 20 Python files, so that a newcomer can survey the folder."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = (
    *("node", "cluster", "nemesis", "workloads", "checkers", "images", "kraftproof"),
    "tests",
)
MOST_FILES = 20
LARGE = {
    "checkers/models": "one file a model, each named after its model",
    "kraftproof/mutants/catalogue": "one file a mutant, each named after its mutant",
    "node/wire/messages/generated": "generated, one file a message",
}
"""Folders with more files, with the reason."""


def large_folders(root: Path, folders: tuple[str, ...]) -> dict[str, int]:
    """Return the number of files of each folder that has too many."""
    counts: dict[str, int] = {}
    for path in (path for folder in folders for path in (root / folder).rglob("*.py")):
        name = str(path.parent.relative_to(root))
        counts[name] = counts.get(name, 0) + 1
    return {name: count for name, count in counts.items() if count > MOST_FILES}


def test_folders_are_small() -> None:
    found = large_folders(ROOT, FOLDERS)
    strays = {name: count for name, count in found.items() if name not in LARGE}
    assert strays == {}, f"at most {MOST_FILES} files: sort them into folders"
    small = LARGE.keys() - found.keys()
    assert small == set(), "these folders are small now: take them off the list"


def test_a_large_folder_is_found(tmp_path: Path) -> None:
    folder = tmp_path / "node" / "inner"
    folder.mkdir(parents=True)
    for number in range(MOST_FILES - 1):
        (folder / f"f{number}.py").touch()
    (folder / "__init__.py").touch()
    assert large_folders(tmp_path, ("node",)) == {}
    (folder / "more.py").touch()
    assert large_folders(tmp_path, ("node",)) == {"node/inner": MOST_FILES + 1}
