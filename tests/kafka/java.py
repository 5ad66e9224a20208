"""Kafka's Java programs, each with a bounded heap and a bounded time, ended by its own id.

Not: what they are used for. A program dies with the tests even if these are killed (setpriv asks
the kernel for that).
"""

import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.kafka.java_host.host import ToolHost

TOOL_SECONDS = 60
SETTLE_SECONDS = 60
PAUSE_SECONDS = 0.1
END_SECONDS = 20
OPTIONS = (
    "-Xmx256m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-Xshare:auto",
    "-Dfile.encoding=UTF-8",
    "-Dsun.stdout.encoding=UTF-8",
    "-Dstdout.encoding=UTF-8",
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
)


@dataclass(frozen=True, slots=True)
class Java:
    """Runs main classes of Kafka's jars.

    Attributes:
        jars: The folder of the jars.
        host: The virtual machine that runs the tools; each program has its own without it.
    """

    jars: Path
    host: ToolHost | None = None

    def command(self, main_class: str, *arguments: str) -> list[str]:
        java = ["java", *OPTIONS, "-cp", f"{self.jars}/*", main_class, *arguments]
        return ["setpriv", "--pdeathsig", "KILL", "nice", *java]

    def run(self, main_class: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a tool to its end, whatever its status."""
        if self.host is not None:
            done = self.host.run(main_class, *arguments, seconds=TOOL_SECONDS)
            words = [main_class, *arguments]
            return subprocess.CompletedProcess(words, done.status, done.output, done.errors)
        return subprocess.run(
            self.command(main_class, *arguments),
            capture_output=True,
            encoding="utf-8",
            check=False,
            timeout=TOOL_SECONDS,
        )

    def output(self, main_class: str, *arguments: str) -> str:
        """What a tool prints, which has to end well and without a word of complaint."""
        done = self.run(main_class, *arguments)
        assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
        return done.stdout

    def settled(self, shows: Callable[[str], bool], main_class: str, *arguments: str) -> str:
        """Run a tool until its output shows a change; return that output.

        The controller answers a change before a broker has applied the change. Until then the
        tool may fail ("Topic 'orders' does not exist as expected") or show the state before.
        """
        deadline = time.monotonic() + SETTLE_SECONDS
        while True:
            done = self.run(main_class, *arguments)
            if (done.returncode, done.stderr) == (0, "") and shows(done.stdout):
                return done.stdout
            assert time.monotonic() < deadline, done.stdout + done.stderr
            time.sleep(PAUSE_SECONDS)


def end(process: subprocess.Popen[bytes]) -> None:
    """SIGTERM, and SIGKILL if that does not do."""
    process.terminate()
    try:
        process.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
