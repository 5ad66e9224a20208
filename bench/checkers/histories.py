"""The histories that are measured: the rows of the table, generated once and kept in a cache."""

import hashlib
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
BIN: Final = Path(sys.executable).parent
SHARED: Final = ROOT / "tests" / "histories"
GENERATOR: Final = ROOT / "checkers" / "generate"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row of the table.

    Attributes:
        name: name of the row for `--only`.
        title: title of the row on the page.
        model: the model, as `kraftproof check --model` and the peers know it.
        options: of `kraftproof generate`; none for recorded histories.
        folder: of recorded histories, below tests/histories.
        invalid: whether a generated history is.
    """

    name: str
    title: str
    model: str = "cas-register"
    options: str = ""
    folder: str = ""
    invalid: bool = False

    def count(self, verdict: str) -> int:
        """Return how many of its histories must get a verdict."""
        if not self.folder:
            return int(verdict == ("invalid" if self.invalid else "valid"))
        within = SHARED / self.folder
        return sum(
            path.is_relative_to(within) and one == verdict
            for path, one in recorded_verdicts().items()
        )

    def files(self, cache: Path) -> list[Path]:
        """Return the histories, and generate missing histories into the cache.

        Raises:
            BenchError: the generator refuses.
        """
        if self.folder:
            return sorted((SHARED / self.folder).glob("*.jsonl"))
        path = cache / "histories" / f"{self.name}-{_fingerprint(self.options)}.jsonl"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            unfinished = path.with_name(f"unfinished-{os.getpid()}.jsonl")
            options = ["--model", self.model, *self.options.split(), "--out", str(unfinished)]
            run([str(BIN / "kraftproof"), "generate", *options])
            unfinished.replace(path)
        return [path]


def recorded_verdicts() -> dict[Path, str]:
    """Return the right verdict on each recorded history.

    A history without a successful operation proves nothing: unknown, where others say valid.
    """
    lines = (SHARED / "VERDICTS.tsv").read_text(encoding="utf-8").splitlines()[1:]
    told = {SHARED / path: verdict for path, _, verdict in (line.split("\t") for line in lines)}
    return {
        path: verdict if b'"type":"ok"' in path.read_bytes() else "unknown"
        for path, verdict in told.items()
    }


class BenchError(Exception):
    """The bench can't go on; the message is one line."""


def run(command: list[str], cwd: Path = ROOT) -> str:
    """Run a command and return its output.

    Raises:
        BenchError: the command fails or is missing.
    """
    try:
        done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=True)
    except FileNotFoundError as error:
        raise BenchError(f"{command[0]}: not found") from error
    except subprocess.CalledProcessError as error:
        last = (error.stderr.strip() or error.stdout.strip() or "no reason given").splitlines()[-1]
        raise BenchError(f"{' '.join(command[:3])}: {last}") from error
    return done.stdout


def _fingerprint(options: str) -> str:
    """Returns what changes with the options and with the generator."""
    found = hashlib.sha256(options.encode())
    for source in sorted(GENERATOR.glob("*.py")):
        found.update(source.read_bytes())
    return found.hexdigest()[:12]


_CAS = "--values 5 --operations 100000"
_READ_WRITE = "--mix read=1,write=1"
_MILLION = "--operations 1000000"
_KEYS = f"{_MILLION} --keys 1000"
_UNIQUE = f"{_READ_WRITE} --values unique"
_SET = "--operations 10000 --values unique --mix add=9,read=1"
_SMALL = "--values 5 --operations 1000 --indeterminate 0.05"


def _cas_keys(clients: int, lost: int) -> Row:
    """Returns a row of many small keys; `lost` is the percentage of indeterminate operations."""
    name, title, options = "cas-keys", "cas, 0 to 4, 1M, 1,000 keys", _KEYS
    if lost:
        name, title = f"{name}-lost{lost}", f"{title}, {lost} % indeterminate"
        options = f"{options} --indeterminate {lost / 100}"
    return Row(
        name=name if clients == 10 else f"{name}-c{clients}",
        title=f"{title}, c{clients}",
        options=f"{options} --concurrency {clients}",
    )


ROWS: Final = (
    Row(name="etcd", title="52 etcd logs", folder="etcd"),
    Row(name="knossos", title="60 Knossos cas logs", folder="knossos/cas-register"),
    Row(name="cas-c5", title="cas, values 0 to 4, 100k, c5", options=f"{_CAS} --concurrency 5"),
    Row(name="cas-c10", title="cas, values 0 to 4, 100k, c10", options=f"{_CAS} --concurrency 10"),
    Row(
        name="cas-c10-invalid",
        title="cas, values 0 to 4, 100k, c10, invalid",
        options=f"{_CAS} --concurrency 10 --corrupt stale-read",
        invalid=True,
    ),
    Row(name="cas-c20", title="cas, values 0 to 4, 100k, c20", options=f"{_CAS} --concurrency 20"),
    Row(name="cas-c50", title="cas, values 0 to 4, 100k, c50", options=f"{_CAS} --concurrency 50"),
    Row(
        name="rw-c10",
        title="read/write, values 0 to 4, 100k, c10",
        options=f"{_CAS} {_READ_WRITE} --concurrency 10",
    ),
    Row(
        name="rw-c50",
        title="read/write, values 0 to 4, 100k, c50",
        options=f"{_CAS} {_READ_WRITE} --concurrency 50",
    ),
    Row(
        name="rw-unique",
        title="read/write, unique values, 100k, c10",
        options=f"{_UNIQUE} --operations 100000 --concurrency 10",
    ),
    Row(
        name="rw-unique-1m",
        title="read/write, unique, 1M on one key, c10",
        options=f"{_UNIQUE} {_MILLION} --concurrency 10",
    ),
    Row(
        name="rw-keys",
        title="read/write, unique, 1M, 1,000 keys, c10",
        options=f"{_UNIQUE} {_KEYS} --concurrency 10",
    ),
    Row(
        name="rw-keys-c5",
        title="read/write, unique, 1M, 1,000 keys, c5",
        options=f"{_UNIQUE} {_KEYS} --concurrency 5",
    ),
    Row(
        name="rw-keys-lost",
        title="read/write, unique, 1M, 1,000 keys, c10, 5 % indeterminate",
        options=f"{_UNIQUE} {_KEYS} --concurrency 10 --indeterminate 0.05",
    ),
    *(_cas_keys(clients, lost) for lost in (0, 1, 5) for clients in (10, 5)),
    Row(name="cas-1k-lost", title="cas, 1k + 5 % indeterminate", options=_SMALL),
    Row(
        name="cas-1k-lost-invalid",
        title="cas, 1k + 5 % indeterminate, invalid",
        options=f"{_SMALL} --corrupt phantom",
        invalid=True,
    ),
    Row(
        name="append",
        title="list append, 100k, 500 keys",
        model="list-append",
        options="--operations 100000 --keys 500 --values unique",
    ),
    Row(
        name="append-invalid",
        title="list append, 100k, 500 keys, invalid",
        model="list-append",
        options="--operations 100000 --keys 500 --values unique --corrupt lost-append",
        invalid=True,
    ),
    Row(
        name="queue",
        title="queue, 100k, c10",
        model="queue",
        options="--operations 100000 --concurrency 10 --values unique",
    ),
    Row(
        name="counter",
        title="counter, 100k, c10",
        model="counter",
        options="--operations 100000 --concurrency 10",
    ),
    Row(name="set", title="set, adds and whole reads, 10k", model="set", options=_SET),
    Row(
        name="set-invalid",
        title="set, adds and whole reads, 10k, invalid",
        model="set",
        options=f"{_SET} --corrupt lost-add",
        invalid=True,
    ),
)
