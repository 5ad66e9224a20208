"""Run Kafka's programs one after another in one virtual machine: a start costs two seconds."""

import contextlib
import hashlib
import os
import select
import struct
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).resolve().parent
SOURCES: Final = tuple(sorted(HERE.glob("*.java")))
OVERDUE: Final = 1000
"""The status of a program that did not end in time."""
GRACE_SECONDS: Final = 20
"""Time for the virtual machine itself, beside the time limit of the program."""
COMPILE_SECONDS: Final = 120


@dataclass(frozen=True, slots=True)
class Done:
    """The end of a program.

    Attributes:
        status: Its exit status, or `OVERDUE`.
        output: Its standard output.
        errors: Its standard error.
        seconds: Wall time.
    """

    status: int
    output: str
    errors: str
    seconds: float

    @property
    def text(self) -> str:
        return self.output + self.errors


class ToolHost:
    """A virtual machine that runs main classes; it starts at the first use."""

    def __init__(self, jars: Path, options: tuple[str, ...]) -> None:
        self._jars = jars
        self._options = options
        self._process: subprocess.Popen[bytes] | None = None

    def run(
        self,
        main_class: str,
        *arguments: str,
        input_text: str = "",
        seconds: float = 60,
        linger_seconds: float = 0,
    ) -> Done:
        """Run a program to its end, whatever its status.

        Args:
            main_class: The class.
            arguments: Its arguments.
            input_text: Its standard input.
            seconds: Time limit.
            linger_seconds: Time for its threads after the end of main.
        """
        process = self._started()
        request = struct.pack(">i", 1 + len(arguments))
        for word in (main_class, *arguments, input_text):
            encoded = word.encode()
            request += struct.pack(">i", len(encoded)) + encoded
        request += struct.pack(">ii", int(seconds * 1000), int(linger_seconds * 1000))
        start = time.monotonic()
        assert process.stdin is not None
        process.stdin.write(request)
        process.stdin.flush()
        deadline = start + 2 * seconds + GRACE_SECONDS
        try:
            (status,) = struct.unpack(">i", self._read(4, deadline))
            output, errors = (self._read_text(deadline) for _ in range(2))
        except BaseException:
            self.end()
            raise
        if status == OVERDUE:
            self.end()
        return Done(status, output, errors, time.monotonic() - start)

    def end(self) -> None:
        """End the virtual machine, if one was started."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout):
                assert stream is not None
                with contextlib.suppress(BrokenPipeError):
                    stream.close()

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            path = f"{compiled(self._jars)}:{self._jars}/*"
            command = ["setpriv", "--pdeathsig", "KILL", "nice", "java", *self._options]
            command += ["--add-opens", "java.base/java.lang=ALL-UNNAMED"]  # for ToolHost's hooks
            self._process = subprocess.Popen(
                [*command, "-cp", path, "ToolHost"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
        return self._process

    def _read(self, count: int, deadline: float) -> bytes:
        assert self._process is not None
        assert self._process.stdout is not None
        descriptor = self._process.stdout.fileno()
        found = b""
        while len(found) < count:
            left = max(0.0, deadline - time.monotonic())
            ready, _, _ = select.select([descriptor], [], [], left)
            assert ready, "the virtual machine of the tools does not answer"
            part = os.read(descriptor, count - len(found))
            assert part, "the virtual machine of the tools has ended"
            found += part
        return found

    def _read_text(self, deadline: float) -> str:
        (length,) = struct.unpack(">i", self._read(4, deadline))
        return self._read(length, deadline).decode()


def compiled(jars: Path) -> Path:
    """Return the folder of the compiled sources; compile once for the same sources and jars."""
    digest = hashlib.sha256(str(jars).encode())
    for source in SOURCES:
        digest.update(source.read_bytes())
    folder = jars.parent / f"tool-host-{digest.hexdigest()[:12]}"
    if not folder.is_dir():
        with tempfile.TemporaryDirectory(dir=jars.parent) as temporary:
            classes = Path(temporary) / "classes"
            subprocess.run(
                ["javac", "-cp", f"{jars}/*", "-d", str(classes), *map(str, SOURCES)],
                check=True,
                timeout=COMPILE_SECONDS,
            )
            with contextlib.suppress(FileExistsError, OSError):
                classes.rename(folder)
    return folder
