"""Starts one quiet Spark session, local or on a cluster, or reports why Spark can't start.

An active session (of a test run or a notebook) is reused.
"""

import logging
import os
import re
import shutil
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from pyspark.sql import SparkSession

import kraftproof
from kraftproof.checkers.text import shortened
from kraftproof.checkers.verdict import CheckerInputError

LOCAL: Final = "local[*]"
_MASTERS: Final = re.compile(r"local(-cluster)?(\[[\w*, ]+\])?|spark://.*|yarn|k8s://.+")
CONNECT_SECONDS: Final = 5.0
EXECUTOR_SECONDS: Final = 60.0

_QUIET_LOGGING: Final = Path(__file__).with_name("log4j2.properties")
_SETTINGS: Final = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # Groups are small in rows and large in work: sizes in bytes are no guide to joining partitions.
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    # A row group of a history is some 30 MB: a task each, so that all cores read.
    "spark.sql.files.maxPartitionBytes": "32m",
    "spark.driver.memory": "4g",
}
_LOGGING: Final = f"-Dlog4j2.configurationFile={_QUIET_LOGGING.as_uri()}"
_SMALL_BYTES: Final = 100_000_000
_FOR_SMALL: Final = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""A small job is over before Java's second compiler has paid for itself: half the CPU time."""
_SETTINGS_FOR_SMALL: Final = {"spark.sql.codegen.wholeStage": "false"}
"""Neither does the Java code pay that Spark writes and compiles for each query: a quarter."""
_ON_LOOPBACK: Final = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}
_LARGEST_LOCAL: Final = 2
"""Minimum number of partitions of a shuffle, even on a single core."""


class SparkUnavailable(CheckerInputError):
    """Spark can't run here; the message is one line."""


def session(
    master: str = LOCAL, input_bytes: int = 0, report: Callable[[str], None] = lambda _: None
) -> SparkSession:
    """Return the active session, or starts one.

    Args:
        master: `local[*]`, or a cluster's address such as spark://HOST:7077. The workers need this
            package, Python and the histories under the driver's paths.
        input_bytes: how much passes through Java, about: Java is started to suit that.
        report: takes a line of progress before Java is started.

    Raises: SparkUnavailable: Java, the master or the workers are missing.
    """
    _require_known(master)
    active = SparkSession.getActiveSession()
    if active is not None:
        return active
    _require_java()
    _require_reachable(master)
    _silence_py4j()
    report("starting Spark: Java takes some ten seconds")
    # Workers must run this interpreter, and find this package also where it is not installed.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    is_small = input_bytes <= _SMALL_BYTES
    settings = _SETTINGS | {
        "spark.executorEnv.PYTHONPATH": _python_path(),
        "spark.driver.extraJavaOptions": f"{_LOGGING} {_FOR_SMALL}" if is_small else _LOGGING,
    }
    settings |= _SETTINGS_FOR_SMALL if is_small else {}
    settings |= _ON_LOOPBACK if master.startswith("local") else {}
    builder = SparkSession.builder.master(master).appName("kraftproof")
    for name, value in settings.items():
        builder = builder.config(name, value)
    others = _children()
    try:
        with _own_interrupts():
            started = builder.getOrCreate()
    except KeyboardInterrupt:
        for pid in _children() - others:  # Java would go on, and hold the output open
            os.kill(pid, signal.SIGKILL)
        raise
    except Exception as error:
        first = str(error).strip().splitlines()[:1]
        reason = first[0] if first else type(error).__name__
        raise SparkUnavailable(
            f"Spark did not start at {shortened(master)}: {reason} (--engine inline needs none)"
        ) from error
    context = started.sparkContext
    context.setLogLevel("ERROR")
    if not master.startswith("local"):
        _require_executor(started, master)
    partitions = max(_LARGEST_LOCAL, context.defaultParallelism)
    started.conf.set("spark.sql.shuffle.partitions", str(partitions))
    return started


@contextmanager
def _own_interrupts() -> Iterator[None]:
    """Keep pyspark from replacing the handler of Ctrl-C.

    pyspark's handler first cancels all jobs, and Java then logs a traceback for each.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handler = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)


@contextmanager
def job(spark: SparkSession) -> Iterator[None]:
    """Free at the end what the block keeps in memory.

    If Ctrl-C ends the block, Java is silent about the tasks that end with the command.
    """
    try:
        yield
    except KeyboardInterrupt:
        with suppress(Exception):  # Java may be gone
            spark.sparkContext.setLogLevel("OFF")
        raise
    finally:
        with suppress(Exception):
            spark.catalog.clearCache()


def _silence_py4j() -> None:
    """Keep py4j from logging the traceback of whatever ends a call, Ctrl-C too.

    The exception itself is enough. py4j logs some exceptions with the root logger.
    """
    logging.getLogger("py4j").setLevel(logging.CRITICAL + 1)
    logging.getLogger().addFilter(_is_from_elsewhere)


def _is_from_elsewhere(record: logging.LogRecord) -> bool:
    return Path(record.pathname).parent.name != "py4j"


def tasks_done(spark: SparkSession) -> tuple[int, int]:
    """Return how many tasks of the stages that run now are done, and how many they have."""
    tracker = spark.sparkContext.statusTracker()
    stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
    there = [stage for stage in stages if stage is not None]
    return sum(stage.numCompletedTasks for stage in there), sum(stage.numTasks for stage in there)


def _children() -> set[int]:
    """Return the ids of the child processes of this process."""
    found: set[int] = set()
    for path in Path("/proc/self/task").glob("*/children"):
        found.update(map(int, path.read_text(encoding="ascii").split()))
    return found


def _require_java() -> None:
    home = os.environ.get("JAVA_HOME")
    at_home = home is not None and (Path(home) / "bin" / "java").exists()
    if not at_home and shutil.which("java") is None:
        raise SparkUnavailable(
            "the Spark engine needs Java 17 or newer, and there is no java on PATH or in JAVA_HOME:"
            " install a JRE, or use --engine inline"
        )


def _require_known(master: str) -> None:
    """Refuse a master of no form that Spark knows: Spark itself would start Java first."""
    if _MASTERS.fullmatch(master) is None:
        forms = "local[*], local[4], spark://HOST:PORT, yarn, k8s://HOST:PORT"
        named = f"--master {shortened(master)}"
        raise SparkUnavailable(f"{named}: no Spark master; the forms are {forms}")


def _require_reachable(master: str) -> None:
    """Ask a standalone master's door: Spark itself would knock for a minute."""
    if not master.startswith("spark://"):
        return
    named = f"--master {shortened(master)}"
    first = master.removeprefix("spark://").split(",")[0]
    host, _, port = first.rpartition(":")
    if not host or not port.isdigit():
        raise SparkUnavailable(f"{named}: not of the form spark://HOST:PORT")
    try:
        socket.create_connection((host, int(port)), timeout=CONNECT_SECONDS).close()
    except (OSError, OverflowError) as error:
        raise SparkUnavailable(f"{named}: no Spark master answers: {error}") from error


def _require_executor(spark: SparkSession, master: str) -> None:
    """Wait for the first executor; a job on a cluster without workers would wait for ever."""
    status = spark.sparkContext._jsc.sc()  # noqa: SLF001 the only way to ask for it
    deadline = time.monotonic() + EXECUTOR_SECONDS
    while status.getExecutorMemoryStatus().size() < 2:
        if time.monotonic() > deadline:
            spark.stop()
            raise SparkUnavailable(
                f"--master {shortened(master)}: no worker gave an executor within"
                f" {EXECUTOR_SECONDS:.0f} s"
            )
        time.sleep(0.1)


def _python_path() -> str:
    """The import path of this package for workers, and the driver's settings."""
    root = str(Path(kraftproof.__file__).resolve().parent.parent)
    return os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
