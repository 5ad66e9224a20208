"""Kafka's Java programs, each with a bounded heap and a bounded time, ended by its own id.

Not: what they are used for. A program dies with the tests even if these are killed (setpriv asks
the kernel for that).
"""

import subprocess
from dataclasses import dataclass
from pathlib import Path

TOOL_SECONDS = 60
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
    """Runs main classes of Kafka's jars."""

    jars: Path

    def command(self, main_class: str, *arguments: str) -> list[str]:
        java = ["java", *OPTIONS, "-cp", f"{self.jars}/*", main_class, *arguments]
        return ["setpriv", "--pdeathsig", "KILL", "nice", *java]

    def run(self, main_class: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a tool to its end, whatever its status."""
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


def end(process: subprocess.Popen[bytes]) -> None:
    """SIGTERM, and SIGKILL if that does not do."""
    process.terminate()
    try:
        process.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
