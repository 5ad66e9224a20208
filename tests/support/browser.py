"""A headless Chromium, driven through its pipe: pages are looked at, clicked and scrolled for real.

Speaks the DevTools protocol (messages of JSON that end in NUL, on file descriptors 3 and 4). Not a
library for browsing: what the tests of our pages need and no more.
"""

import base64
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from itertools import count
from pathlib import Path
from typing import Any

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--hide-scrollbars",
    "--no-first-run",
    "--disable-dev-shm-usage",
    "--remote-debugging-pipe",
)
WITH_PIPES = """
import fcntl, os, sys
ours = [fcntl.fcntl(int(one), fcntl.F_DUPFD, 10) for one in sys.argv[1:3]]
os.dup2(ours[0], 3)
os.dup2(ours[1], 4)
os.execv(sys.argv[3], sys.argv[3:])
"""
"""Puts two pipes where Chromium looks for them; a plain shell can't for numbers above 9."""


def chromium() -> str | None:
    return next((found for name in PROGRAMS if (found := shutil.which(name))), None)


class Browser:
    """One page in one browser; a context manager."""

    def __init__(self, width: int = 1280, height: int = 800) -> None:
        program = chromium()
        assert program is not None, "no Chromium: run scripts/bootstrap/chromium.sh"
        self._profile = tempfile.TemporaryDirectory(
            prefix="kraftproof-browser-", ignore_cleanup_errors=True
        )
        from_us, to_us = os.pipe(), os.pipe()
        options = [*OPTIONS, f"--user-data-dir={self._profile.name}"]
        options.append(f"--window-size={width},{height}")
        pipes = (str(from_us[0]), str(to_us[1]))
        self._process = subprocess.Popen(
            [sys.executable, "-c", WITH_PIPES, *pipes, program, *options, "about:blank"],
            pass_fds=(from_us[0], to_us[1]),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(from_us[0])
        os.close(to_us[1])
        self._out, self._in = os.fdopen(from_us[1], "wb"), os.fdopen(to_us[0], "rb")
        self._numbers = count(1)
        self._rest = b""
        self.messages: list[str] = []
        """Errors and warnings of the page, and every address that it asked for."""
        self._session: str | None = None
        self.requests: list[str] = []
        try:
            self._attach(width, height)
        except BaseException:
            self.__exit__()
            raise

    def __enter__(self) -> "Browser":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        with contextlib.suppress(BrokenPipeError):
            self._out.close()
        self._in.close()
        self._profile.cleanup()

    def _attach(self, width: int, height: int) -> None:
        targets = self.send("Target.getTargets")["targetInfos"]
        page = next(one for one in targets if one["type"] == "page")
        attached = self.send("Target.attachToTarget", targetId=page["targetId"], flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.send(f"{domain}.enable")
        self.resize(width, height)

    def resize(self, width: int, height: int, *, dark: bool = False) -> None:
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.send("Emulation.setEmulatedMedia", features=[scheme])

    def open(self, path: Path) -> None:
        self.send("Page.navigate", url=path.resolve().as_uri())
        self.evaluate(
            "new Promise(done => document.readyState === 'complete' ? done()"
            " : addEventListener('load', done))"
        )

    def evaluate(self, expression: str) -> Any:
        """The value of an expression; that of a promise once it has one."""
        said = self.send(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True
        )
        assert "exceptionDetails" not in said, said["exceptionDetails"]
        return said["result"].get("value")

    def mouse(self, kind: str, x: float, y: float, **more: object) -> None:
        self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def key(self, key: str) -> None:
        text = {"text": key} if len(key) == 1 else {}
        self.send("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
        self.send("Input.dispatchKeyEvent", type="keyUp", key=key)

    def settle(self) -> None:
        """Waits until what moves stands still."""
        self.evaluate("new Promise(done => setTimeout(done, 450))")

    def screenshot(self, path: Path) -> Path:
        path.write_bytes(base64.b64decode(self.send("Page.captureScreenshot")["data"]))
        return path

    def send(self, method: str, **parameters: object) -> dict[str, Any]:
        number = next(self._numbers)
        message: dict[str, object] = {"id": number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        self._out.write(json.dumps(message).encode() + b"\0")
        self._out.flush()
        while True:
            said = self._receive()
            if said.get("id") == number:
                assert "error" not in said, (method, said["error"])
                result: dict[str, Any] = said["result"]
                return result
            self._note(said)

    def _note(self, said: dict[str, Any]) -> None:
        details = said.get("params", {})
        if said.get("method") == "Runtime.exceptionThrown":
            self.messages.append(json.dumps(details["exceptionDetails"]))
        elif said.get("method") == "Log.entryAdded":
            self.messages.append(details["entry"]["text"])
        elif said.get("method") == "Network.requestWillBeSent":
            self.requests.append(details["request"]["url"])

    def _receive(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            piece = os.read(self._in.fileno(), 1 << 16)
            assert piece, "the browser is gone"
            self._rest += piece
        line, _, self._rest = self._rest.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        return message
