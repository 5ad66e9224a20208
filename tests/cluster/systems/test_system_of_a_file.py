"""A system of one's own is a class in a file; a mistake in the file is one line."""

import importlib
import sys
import textwrap

import pytest

from kraftproof.cluster.plugin import PluginLoadError
from kraftproof.cluster.plugin_file import absolute
from kraftproof.cluster.systems.registry import SYSTEMS, make_system
from kraftproof.cluster.systems.system import Client, SystemUnavailableError

RIGHT = """
    from kraftproof.cluster.systems.reference.system import ReferenceSystem

    class Mine(ReferenceSystem):
        name = "mine"
"""
MISTAKES = {
    "syntax": ("def broken(:", "line 1: SyntaxError: "),
    "import": ("import no_such_module_here", "line 1: ModuleNotFoundError: No module named"),
    "class": ("class Other: pass", "the file has no Mine, only Other"),
    "abstract": ("class Mine:\n    def prepare(self): pass", "Mine in "),
    "made": (
        "class Mine:\n    def __init__(self):\n        raise KeyError('port')",
        "line 3: KeyError: 'port'",
    ),
}


@pytest.fixture
def written(tmp_path):
    def write(text):
        path = tmp_path / "mine.py"
        path.write_text(textwrap.dedent(text))
        return f"{path}:Mine"

    return write


def test_a_class_in_a_file_is_a_system(written):
    assert make_system(written(RIGHT)).name == "mine"


def test_a_module_beside_the_file_can_be_imported(written, tmp_path):
    (tmp_path / "kraftproof_test_neighbour.py").write_text("NAME = 'from beside'\n")
    neighbour = "    from kraftproof_test_neighbour import NAME\n" + RIGHT.replace('"mine"', "NAME")
    assert make_system(written(neighbour)).name == "from beside"


def test_modules_of_one_name_beside_two_files_are_kept_apart(tmp_path):
    """examples/etcd and examples/kv have a system.py each, and a run may load files of both."""
    twin = "    from kraftproof_test_twin import NAME\n" + RIGHT.replace('"mine"', "NAME")
    names = []
    for folder in (tmp_path / "first", tmp_path / "second"):
        folder.mkdir()
        (folder / "kraftproof_test_twin.py").write_text(f"NAME = {folder.name!r}\n")
        (folder / "mine.py").write_text(textwrap.dedent(twin))
        names.append(make_system(f"{folder / 'mine.py'}:Mine").name)
    assert names == ["first", "second"]


def test_a_folder_that_the_user_put_first_stays_first(tmp_path, monkeypatch):
    """Also if files of the folder were loaded, and later files of another folder."""
    for name in ("first", "second", "third"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "mine.py").write_text(textwrap.dedent(RIGHT))
        if name != "third":
            (tmp_path / name / "kraftproof_test_double.py").write_text(f"NAME = {name!r}\n")
            make_system(f"{tmp_path / name / 'mine.py'}:Mine")
    monkeypatch.syspath_prepend(tmp_path / "first")
    double = "    from kraftproof_test_double import NAME\n" + RIGHT.replace('"mine"', "NAME")
    (tmp_path / "third" / "mine.py").write_text(textwrap.dedent(double))
    assert make_system(f"{tmp_path / 'third' / 'mine.py'}:Mine").name == "first"


def test_a_module_of_a_folder_that_has_left_the_path_gives_way(tmp_path, monkeypatch):
    double = "    from kraftproof_left_double import NAME\n" + RIGHT.replace('"mine"', "NAME")
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "kraftproof_left_double.py").write_text(f"NAME = {name!r}\n")
        (tmp_path / name / "__main__.py").write_text("")
        (tmp_path / name / "mine.py").write_text(textwrap.dedent(double))
    main = sys.modules["__main__"]
    with monkeypatch.context() as first:
        first.syspath_prepend(tmp_path / "first")
        assert importlib.import_module("kraftproof_left_double").NAME == "first"
    assert make_system(f"{tmp_path / 'second' / 'mine.py'}:Mine").name == "second"
    assert sys.modules["__main__"] is main


def test_a_folder_that_a_plug_in_puts_first_is_not_first_for_other_plug_ins(tmp_path):
    """A plug-in may import what it needs from anywhere, but must not change what others import."""
    double = "    from kraftproof_inserted_double import NAME\n" + RIGHT.replace('"mine"', "NAME")
    insert = f"    import sys\n    sys.path.insert(0, {str(tmp_path / 'first')!r})\n"
    for name in ("first", "second", "third"):
        (tmp_path / name).mkdir()
        if name != "third":
            (tmp_path / name / "kraftproof_inserted_double.py").write_text(f"NAME = {name!r}\n")
    (tmp_path / "third" / "mine.py").write_text(textwrap.dedent(insert + double))
    (tmp_path / "third" / "again.py").write_text(textwrap.dedent(insert + RIGHT))
    assert make_system(f"{tmp_path / 'third' / 'mine.py'}:Mine").name == "first"
    assert make_system(f"{tmp_path / 'third' / 'again.py'}:Mine").name == "mine"
    (tmp_path / "second" / "mine.py").write_text(textwrap.dedent(double))
    assert make_system(f"{tmp_path / 'second' / 'mine.py'}:Mine").name == "second"


def test_a_folder_of_the_user_stays_first_though_a_plug_in_adds_the_folder_again(
    tmp_path, monkeypatch
):
    monkeypatch.syspath_prepend(tmp_path)
    insert = f"    import sys\n    sys.path.insert(0, {str(tmp_path)!r})\n"
    (tmp_path / "plug-in").mkdir()
    (tmp_path / "plug-in" / "mine.py").write_text(textwrap.dedent(insert + RIGHT))
    make_system(f"{tmp_path / 'plug-in' / 'mine.py'}:Mine")
    assert sys.path[0] == str(tmp_path)


def test_a_relative_path_means_the_same_from_another_directory(written, tmp_path, monkeypatch):
    written(RIGHT)
    monkeypatch.chdir(tmp_path)
    reference = absolute("mine.py:Mine")
    monkeypatch.chdir("/")
    assert make_system(reference).name == "mine"
    assert absolute("reference") == "reference"


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_in_the_file_is_one_line_that_names_it(written, mistake):
    text, expected = MISTAKES[mistake]
    reference = written(text)
    with pytest.raises(PluginLoadError) as raised:
        make_system(reference)
    said = str(raised.value)
    assert said.startswith(f"system {reference}: ")
    assert expected in said
    assert "\n" not in said


def test_a_file_that_is_not_there_or_has_no_class_is_one_line(tmp_path):
    with pytest.raises(PluginLoadError, match="there is no such file"):
        make_system(f"{tmp_path}/none.py:Mine")
    with pytest.raises(PluginLoadError, match=r"give its class too, as in none\.py:Class"):
        make_system("none.py")


def test_an_unknown_name_lists_the_systems():
    with pytest.raises(SystemUnavailableError) as raised:
        make_system("refrence")
    assert all(name in str(raised.value) for name in SYSTEMS)
    assert "path/to/file.py:Class" in str(raised.value)


def test_a_client_may_set_its_node_as_a_plain_attribute():
    class OfOneNode(Client):
        def __init__(self, node):
            self.node = node

    assert (OfOneNode(2).node, Client.node) == (2, None)
