"""The real command, in a process of its own or in this one, and what it says."""

import contextlib
import io
import os
import signal
import subprocess
import sys
from pathlib import Path
from unittest import mock

from kraftproof import cli

ROOT = Path(__file__).resolve().parents[2]
KRAFTPROOF = (sys.executable, "-m", "kraftproof")
NODE = (sys.executable, "-m", "kraftproof.node.server.main")


def run(command, *arguments, environment=None, timeout=60):
    return subprocess.run(
        [*command, *map(str, arguments)],
        env={**os.environ, **(environment or {})},
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


def call(*arguments, environment=None):
    """`kraftproof ARGUMENTS` in this process: for tests that ask nothing of a process.

    A start of Python and the imports cost more than most commands.
    """
    command = [*map(str, arguments)]
    out, err = io.StringIO(), io.StringIO()
    with (
        mock.patch.dict(os.environ, environment or {}),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        status = cli.run(command)
    return subprocess.CompletedProcess(command, status, out.getvalue(), err.getvalue())


def without(folder, *packages):
    """The environment of a Python that finds none of these packages, though they are installed."""
    hiding = f"""
from importlib.machinery import PathFinder

found = PathFinder.find_spec
PathFinder.find_spec = lambda name, *rest: None if name in {packages!r} else found(name, *rest)
"""
    (folder / "sitecustomize.py").write_text(hiding)
    return {"PYTHONPATH": str(folder)}


def begin(*arguments, environment=None, **streams):
    """Start a kraftproof that takes Ctrl-C, whatever this process inherited."""
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return subprocess.Popen(
            [*KRAFTPROOF, *map(str, arguments)],
            env={**os.environ, **(environment or {})},
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            text=True,
            **streams,
        )
    finally:
        signal.signal(signal.SIGINT, previous)


def one_line(done, status):
    """The only line of a refusal, on standard error; nothing else was said."""
    assert done.returncode == status, done.stdout + done.stderr
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    return line
