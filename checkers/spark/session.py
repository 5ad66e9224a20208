"""Starts one quiet local Spark session, or says in one line why it can't.

It reuses a session that is already active (a test run's, or one on a cluster).
"""

import os
import shutil
import sys
from pathlib import Path
from typing import Final

from pyspark.sql import SparkSession

from checkers.verdict import CheckerInputError

_QUIET_LOGGING: Final = Path(__file__).with_name("log4j2.properties")
_SETTINGS: Final = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.default.parallelism": "2",
    # Groups are small in rows and large in work: sizes in bytes are no guide to joining partitions.
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={_QUIET_LOGGING.as_uri()}",
}


class SparkUnavailable(CheckerInputError):
    """Spark can't run here; the message is one line."""


def session() -> SparkSession:
    """Returns the active session, or starts one.

    Raises:
        SparkUnavailable: there is no Java, or Spark did not start.
    """
    active = SparkSession.getActiveSession()
    if active is not None:
        return active
    _require_java()
    # Workers must run this interpreter, and find this package also where it is not installed.
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").appName("kraftproof check")
    for name, value in (_SETTINGS | {"spark.executorEnv.PYTHONPATH": _package_root()}).items():
        builder = builder.config(name, value)
    try:
        started = builder.getOrCreate()
    except Exception as error:
        first = str(error).strip().splitlines()[:1]
        reason = first[0] if first else type(error).__name__
        raise SparkUnavailable(f"Spark did not start: {reason} (--engine inline)") from error
    started.sparkContext.setLogLevel("ERROR")
    return started


def _require_java() -> None:
    home = os.environ.get("JAVA_HOME")
    at_home = home is not None and (Path(home) / "bin" / "java").exists()
    if not at_home and shutil.which("java") is None:
        raise SparkUnavailable(
            "the Spark engine needs Java 17 or newer, and there is no java on PATH or in JAVA_HOME:"
            " install a JRE, or use --engine inline"
        )


def _package_root() -> str:
    return str(Path(__file__).resolve().parents[2])
