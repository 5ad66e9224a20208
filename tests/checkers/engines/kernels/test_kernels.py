"""Compiled kernels never outlive a source that they were compiled from."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kraftproof.checkers import compiling, kernels, uncompiled

CALLED = (
    "from kraftproof.checkers.kernels import kernel\n@kernel\ndef called(x):\n    return x + {}\n"
)
CALLER = (
    "from kraftproof.checkers.kernels import kernel\n"
    "from kraftproof.checkers.called import called\n"
    "@kernel\ndef caller(x):\n    return called(x)\nprint(caller(1))\n"
)

TYPED = (
    "from kraftproof.checkers.kernels import kernel\n@kernel\ndef first(x):\n    return x[0] + 1\n"
)
COMPILES = """
import sys, time
from numba.core.caching import IndexDataCacheFile
import numpy as np
def delay(name, seconds):
    does = getattr(IndexDataCacheFile, name)
    def late(self, *given):
        time.sleep(seconds)
        return does(self, *given)
    setattr(IndexDataCacheFile, name, late)
kinds, before_index, before_code = sys.argv[1], float(sys.argv[2]), float(sys.argv[3])
delay("_save_index", before_index)
delay("_save_data", before_code)
from kraftproof.checkers.typed import first
for kind in kinds.split(","):
    print(first(np.array([258, 2], dtype=kind)))
"""


@pytest.fixture
def package(tmp_path):
    """A package of this name that has `kernel`, what that needs, and nothing else."""
    package = tmp_path / "kraftproof" / "checkers"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package.parent / "__init__.py").touch()
    for module in (kernels, compiling, uncompiled):
        shutil.copy(module.__file__, package)
    return package


@pytest.fixture
def environment(tmp_path):
    """That of a process that finds this package, and keeps its code beside it."""
    found = os.environ | {"PYTHONPATH": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "c")}
    found.pop("NUMBA_CACHE_DIR", None)
    return found


@pytest.mark.long
def test_an_edit_of_a_called_kernel_compiles_its_callers_anew(package, environment):
    (package / "caller.py").write_text(CALLER)
    for added in (1, 100):
        (package / "called.py").write_text(CALLED.format(added))
        command = [sys.executable, "-m", "kraftproof.checkers.caller"]
        done = subprocess.run(
            command,
            cwd=package.parents[1],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout == f"{added + 1}\n"
    kept = [
        path for path in (package.parents[1] / "c").rglob("*.nbi") if path.name.startswith("caller")
    ]
    assert len(kept) == 2


@pytest.mark.long
def test_a_checkout_elsewhere_uses_what_was_compiled_from_the_same_sources(package, environment):
    (package / "called.py").write_text(CALLED.format(1))
    script = (
        "from kraftproof.checkers.called import called\n"
        "print(called(1), len(called._dispatcher.stats.cache_hits))\n"
    )
    elsewhere = package.parents[1] / "elsewhere"
    shutil.copytree(package.parent, elsewhere / "kraftproof")
    printed = [
        subprocess.run(
            [sys.executable, "-c", script],
            cwd=folder,
            env=environment | {"PYTHONPATH": str(folder)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for folder in (package.parents[1], elsewhere)
    ]
    assert printed == ["2 0\n", "2 1\n"]


@pytest.mark.long
def test_two_processes_that_compile_at_once_leave_code_that_another_can_use(package, environment):
    (package / "typed.py").write_text(TYPED)

    def started(*arguments):
        command = [sys.executable, "-c", COMPILES, *arguments]
        return subprocess.Popen(
            command, cwd=package.parents[1], env=environment, stdout=subprocess.PIPE, text=True
        )

    # The other's index goes over the first one's, then the first one's code over the other's.
    both = [started("int16", "1", "2"), started("float64", "1.5", "0")]
    assert [process.communicate(timeout=60)[0] for process in both] == ["259\n", "259.0\n"]
    third = started("int16,float64", "0", "0")
    assert third.communicate(timeout=60)[0] == "259\n259.0\n"
    assert third.returncode == 0
    assert len(list((package.parents[1] / "c").rglob("*.nbc"))) == 2


MADE = """
import numba
import numpy as np
def adding(added):
    @numba.njit
    def add(x):
        sums = np.cumsum(np.arange(x) + added)
        for one in range(x):
            for other in range(one):
                if sums[one] % 7 < sums[other] % 7:
                    sums[one], sums[other] = sums[other], sums[one]
        return np.median(sums) + sums.max() - sums.min() + sums[0] + added
    return add
"""
CALLS_MADE = """
from kraftproof.checkers.kernels import kernel
from kraftproof.checkers.made import adding
add = adding({})
@kernel
def {}(x):
    return add(x) + add(x + 1)
"""


@pytest.mark.long
def test_code_that_two_processes_have_kept_does_not_mix_in_a_third(package, environment):
    (package / "made.py").write_text(MADE)
    (package / "one.py").write_text(CALLS_MADE.format(1, "one"))
    (package / "hundred.py").write_text(CALLS_MADE.format(100, "hundred"))

    def printed(*names):
        code = [
            f"from kraftproof.checkers.{name} import {name}\nprint({name}(9))\n" for name in names
        ]
        command = [sys.executable, "-c", "".join(code)]
        done = subprocess.run(
            command,
            cwd=package.parents[1],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.split()

    alone = printed("one") + printed("hundred")
    assert alone[0] != alone[1]
    assert printed("one", "hundred") == printed("hundred", "one")[::-1] == alone


def test_a_kernel_depends_on_what_its_file_imports_and_on_nothing_else(monkeypatch, tmp_path):
    monkeypatch.setattr(kernels, "_PACKAGE", tmp_path / "checkers")
    sources = {
        "alone.py": "",
        "one.py": "import numpy\nfrom kraftproof.checkers.two import (\n    called,\n)\n",
        "two.py": "from kraftproof.checkers.engines import three\n",
        "engines/__init__.py": "",
        "engines/three.py": "def function():\n    from kraftproof.checkers.one import back\n",
    }
    for path, text in sources.items():
        (tmp_path / "checkers" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "checkers" / path).write_text(text)
    source = tmp_path / "checkers" / "one.py"
    before = kernels.fingerprint(source)
    for path, text in sources.items():
        (tmp_path / "checkers" / path).write_text(text + "# edited\n")
        kernels._imported.cache_clear()
        assert (kernels.fingerprint(source) == before) == (path == "alone.py"), path
        (tmp_path / "checkers" / path).write_text(text)


def test_a_cache_that_cannot_be_written_is_replaced_by_a_temporary_folder(monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    folder = kernels.kernel_folder("abc")
    assert folder.name == "abc"
    assert not folder.is_relative_to(tmp_path / "file")


def test_every_kernel_of_the_package_is_kept_by_its_sources():
    sources = [*Path(kernels.__file__).parent.rglob("*.py")]
    assert any("checkers.compiling import" in path.read_text() for path in sources)
    direct = [path.name for path in sources if "import njit" in path.read_text()]
    assert direct == []


def test_what_compiles_has_its_time_left(package, environment):
    """Compiling takes half a second, which the first to need a kernel would have lost."""
    (package / "typed.py").write_text(TYPED)
    script = (
        "import time, numpy\n"
        "from kraftproof.checkers.compiling import thread_seconds\n"
        "from kraftproof.checkers.typed import first\n"
        "before, own = time.thread_time(), thread_seconds()\n"
        "first(numpy.array([1]))\n"
        "print(time.thread_time() - before, thread_seconds() - own)\n"
    )
    command = [sys.executable, "-c", script]
    ran = subprocess.run(
        command, cwd=package.parents[1], env=environment, capture_output=True, text=True, check=True
    )
    took, own = map(float, ran.stdout.split())
    assert own < took / 4
