"""Programs that report their clocks, with the C library and without."""

import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

SECOND_NS = 1_000_000_000
REPORT = "wall.txt"
PYTHON = f"""
import os, sys, time
while True:
    with open(".new", "w") as file:
        file.write(str(time.time_ns() - time.monotonic_ns()))
    os.replace(".new", "{REPORT}")
    time.sleep(0.005)
"""
GO = f"""
package main

import (
	"os"
	"strconv"
	"syscall"
	"time"
	"unsafe"
)

func main() {{
	for {{
		var at syscall.Timespec
		syscall.Syscall(syscall.SYS_CLOCK_GETTIME, 1, uintptr(unsafe.Pointer(&at)), 0)
		text := strconv.FormatInt(time.Now().UnixNano()-at.Nano(), 10)
		os.WriteFile(".new", []byte(text), 0644)
		os.Rename(".new", "{REPORT}")
		time.Sleep(5 * time.Millisecond)
	}}
}}
"""
"""Its report is wall minus monotonic clock; only the wall clock is read through the vDSO."""
HAS_GO = shutil.which("go") is not None


def wall_clock(directory):
    try:
        return int((Path(directory) / REPORT).read_text())
    except FileNotFoundError:
        return None


@cache
def _go_program(folder):
    (folder / "main.go").write_text(GO)
    build = ("go", "build", "-o", "reporter", "main.go")
    environment = {**os.environ, "CGO_ENABLED": "0", "GO111MODULE": "off"}
    subprocess.run(build, cwd=folder, check=True, timeout=100, env=environment)
    return str(folder / "reporter")


def command(kind, folder):
    """Return the command of a program: `python`, `go`, or `shell` with a Python that it starts."""
    if kind == "go":
        return (_go_program(folder),)
    python = (sys.executable, "-I", "-S", "-c", PYTHON)
    return ("sh", "-c", '"$@" & wait', "sh", *python) if kind == "shell" else python
