"""Builds the peers: our own small programs around Porcupine and porcupine-rs.

The libraries come through the ordinary clients of their registries. Everything built lies in the
cache, the repository stays as it is.
"""

import platform
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.checkers.histories import BIN, BenchError, run

SOURCES: Final = Path(__file__).resolve().parent / "peers"


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One side of the comparison.

    Attributes:
        name: name of the peer on the page.
        version: of the library and of its compiler.
        worker: the command that keeps histories in memory, without model and files.
        whole: the command that reads, checks and exits, without model and files.
        codes: exit codes of the verdicts.
    """

    name: str
    version: str
    worker: tuple[str, ...]
    whole: tuple[str, ...]
    codes: tuple[int, ...] = (0,)


def sides(cache: Path) -> tuple[Side, ...]:
    """Returns Porcupine, porcupine-rs and us, built.

    Raises:
        BenchError: go or cargo is not there, or a build fails.
    """
    return (_porcupine(cache), _porcupine_rs(cache), _ours())


def _porcupine(cache: Path) -> Side:
    go = _tool("go", Path("/usr/local/go/bin/go"))
    binary = cache / "porcupine"
    run([go, "build", "-o", str(binary), "."], SOURCES / "go")
    library = _pinned("go/go.mod", r"porcupine (v\S+)$")
    version = f"{library}, {run([go, 'version']).split()[2]}"
    return Side(name="porcupine", version=version, worker=(str(binary),), whole=(str(binary),))


def _porcupine_rs(cache: Path) -> Side:
    cargo = _tool("cargo", Path.home() / ".cargo" / "bin" / "cargo")
    source = cache / "rust"  # cargo writes its lock beside the manifest
    shutil.copytree(SOURCES / "rust", source, dirs_exist_ok=True)
    run([cargo, "build", "--release", "--target-dir", str(source / "target")], source)
    binary = source / "target" / "release" / "peer"
    library = _pinned("rust/Cargo.toml", r'porcupine-rs = "=(\S+)"$')
    version = f"{library}, cargo {run([cargo, '--version']).split()[1]}"
    return Side(name="porcupine-rs", version=version, worker=(str(binary),), whole=(str(binary),))


def _ours() -> Side:
    python = f"Python {platform.python_version()}"
    whole = (str(BIN / "kraftproof"), "check", "--engine", "inline", "--json", "--model")
    worker = (str(BIN / "python"), "-m", "bench.checkers.ours")
    return Side(name="kraftproof", version=python, worker=worker, whole=whole, codes=(0, 1, 2))


def _tool(name: str, usual: Path) -> str:
    found = shutil.which(name) or (str(usual) if usual.exists() else None)
    if found is None:
        raise BenchError(f"{name}: not found: it builds a peer; install it, or put it on the PATH")
    return found


def _pinned(manifest: str, pattern: str) -> str:
    text = (SOURCES / manifest).read_text(encoding="utf-8")
    found = re.search(pattern, text, re.MULTILINE)
    assert found is not None
    return found[1]
