"""Test the tests: empty each function, and report the functions that no test misses.

`python -m scripts.empty_functions [--sample N] [--seed S] [--seconds T] [PATH ...]`, or
`make test-the-tests`. For each function of the modules, the body is replaced in memory by an empty
result that fits the return annotation, and the tests that TESTS assigns to the module run up to
the first failure, in a process of their own and for 60 s at most: first those that call the
function, the shortest first, then all. A function whose tests all pass is a survivor. The exit
status is 1 if there are survivors, 3 if tests fail on unedited modules, which are run first to
record the calls. A Python process that a test starts runs unedited code; its tests always pass.
"""

import argparse
import ast
import contextlib
import multiprocessing
import os
import pickle
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random

import numba  # noqa: F401 - imported once here, inherited by every process below

from kraftproof.mutants.mutant import Edit, Mutant
from scripts.called_tests import CallRecorder, Calls, OnlyThese
from scripts.edited_tests import NOT_IMPORTED, run_edited

ROOT = Path(__file__).resolve().parent.parent
NO_BASELINE, TIMED_OUT, NO_TESTS = 3, -1, 5
WORDS = {0: "SURVIVED", NOT_IMPORTED: "UNTESTED", TIMED_OUT: "timed out"}
BOUND_S = 60.0
RECORDING_BOUND_S = 600.0
RAFT = ("fetching", "searching", "replicas", "epochs")
OUTCOMES = (
    "judge/test_judge",
    "judge/test_impossible",
    "engines/lists/test_list_append",
    "test_told_outcomes",
)
TESTS = {
    "checkers/judge/keys.py": (
        "tests/checkers/test_verdict.py",
        "tests/checkers/judge/test_judge.py",
    ),
    "checkers/guards": ("tests/checkers/guards/test_guards.py",),
    "kraftproof/search/shrinking.py": ("tests/kraftproof/search/test_shrinking.py",),
    "kraftproof/search/smaller.py": ("tests/kraftproof/search/test_smaller.py",),
    "kraftproof/search/steering.py": ("tests/kraftproof/search/test_steering.py",),
    "checkers/judge/refute.py": ("tests/checkers/judge/test_impossible.py",),
    "checkers/judge/first_pass.py": tuple(f"tests/checkers/{name}.py" for name in OUTCOMES),
    "node/core/raft/fetching.py": tuple(
        f"tests/node/core/raft/{name}.py"
        for name in (*(f"test_{part}" for part in RAFT), "snapshots/test_copying")
    ),
    "nemesis": ("tests/nemesis", "tests/kraftproof/search/test_schedule_files.py"),
}
"""The tests of the modules whose path begins so; the first row that fits counts."""
EMPTY = {
    "str": '""',
    "bytes": 'b""',
    "bool": "False",
    "int": "0",
    "float": "0.0",
    "tuple": "()",
    **dict.fromkeys(("list", "Sequence", "Iterable", "Collection"), "[]"),
    **dict.fromkeys(("dict", "Mapping"), "{}"),
    **dict.fromkeys(("set", "frozenset", "Set"), "set()"),
    **dict.fromkeys(("Iterator", "Generator"), "iter(())"),
}
"""The empty result of a return annotation, by the annotation's outermost name; else None."""

UNEDITED = Mutant(mutant_id="none", title="no edit", source="", edits=())


@dataclass(frozen=True, slots=True, kw_only=True)
class Emptied:
    """One function with an empty body."""

    path: str
    name: str
    line: int
    result: str
    mutant: Mutant
    first_line: int
    """The line of the first decorator, or of `def`."""

    @property
    def tests(self) -> tuple[str, ...]:
        """Return the test files that the table assigns to the module."""
        return next(files for prefix, files in TESTS.items() if self.path.startswith(prefix))


def emptied(path: str) -> Iterator[Emptied]:
    """Yield every function of a module with its body emptied, one at a time."""
    source = (ROOT / path).read_text(encoding="utf-8")
    module = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    for name, function in functions(ast.parse(source)):
        result = empty_result(function.returns)
        if is_empty(function.body, result):
            continue
        edit = Edit(module=module, old=source, new=without_body(source, function, result))
        mutant = Mutant(mutant_id=f"empty-{name}", title=name, source=path, edits=(edit,))
        line = function.lineno
        first_line = min([line, *(each.lineno for each in function.decorator_list)])
        yield Emptied(
            path=path, name=name, line=line, result=result, mutant=mutant, first_line=first_line
        )


def functions(
    tree: ast.AST, prefix: str = ""
) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Yield the functions and methods of a module with their dotted names, inner ones too."""
    for node in ast.iter_child_nodes(tree):
        inner = prefix
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            inner = f"{prefix}{node.name}."
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{prefix}{node.name}", node
        yield from functions(node, inner)


def empty_result(returns: ast.expr | None) -> str:
    """Return the text of an empty value that fits an annotation; None where none is known."""
    if isinstance(returns, ast.Constant) and isinstance(returns.value, str):
        return empty_result(ast.parse(returns.value, mode="eval").body)
    if isinstance(returns, ast.Subscript):
        return empty_result(returns.value)
    return EMPTY.get(returns.id, "None") if isinstance(returns, ast.Name) else "None"


def is_empty(body: Sequence[ast.stmt], result: str) -> bool:
    """Return whether a body does nothing already: a docstring, `...`, `pass` or that result."""
    *rest, last = body
    if any(not _is_text(statement) for statement in rest):
        return False
    returned = isinstance(last, ast.Return) and ast.unparse(last) == f"return {result}"
    return _is_text(last) or isinstance(last, ast.Pass | ast.Raise) or returned


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def without_body(source: str, function: ast.FunctionDef | ast.AsyncFunctionDef, result: str) -> str:
    """Return a module's source with one function's body replaced by the return of a result."""
    lines = source.splitlines(keepends=True)
    first, last = function.body[0], function.body[-1]
    indent = " " * first.col_offset
    generates = any(isinstance(node, ast.Yield | ast.YieldFrom) for node in ast.walk(function))
    is_async = isinstance(function, ast.AsyncFunctionDef)
    text = "return\n" + f"{indent}yield\n" if generates and is_async else f"return {result}\n"
    return "".join([*lines[: first.lineno - 1], indent, text, *lines[last.end_lineno :]])


def status_of(one: Emptied, calls: Calls) -> int:
    """Run the tests that call a function, then every test if these pass; return the status."""
    callers = calls.of((str(ROOT / one.path), one.first_line))
    if callers:
        status = run_apart(partial(run_edited, one.mutant, one.tests, [OnlyThese(callers)]))
        if status not in {0, NOT_IMPORTED, NO_TESTS}:
            return status
    return run_apart(partial(run_edited, one.mutant, one.tests))


def recorded(tests: Sequence[str]) -> Calls | None:
    """Run tests on unedited modules; return their calls, or None if a test fails."""
    with tempfile.NamedTemporaryFile() as file:

        def run() -> int:
            recorder = CallRecorder(str(ROOT))
            status = run_edited(UNEDITED, tests, [recorder])
            Path(file.name).write_bytes(pickle.dumps(recorder.calls))
            return status

        status = run_apart(run, RECORDING_BOUND_S)
        calls: Calls | None = None if status else pickle.loads(Path(file.name).read_bytes())
    return calls


def run_apart(run: Callable[[], int], seconds: float = BOUND_S) -> int:
    """Run tests in a process of their own; return pytest's exit status, or TIMED_OUT."""
    context = multiprocessing.get_context("fork")
    process = context.Process(target=_run_quietly, args=(run,))
    process.start()
    process.join(seconds)
    status = TIMED_OUT if process.exitcode is None else process.exitcode
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid or 0, signal.SIGKILL)
    process.join()
    return status


def _run_quietly(run: Callable[[], int]) -> None:
    os.setsid()
    os.nice(10)
    with open(os.devnull, "r+b") as nowhere:
        for descriptor in range(3):
            os.dup2(nowhere.fileno(), descriptor)
    os._exit(run())


def sampled(paths: Sequence[str], sample: int | None, seed: int) -> list[Emptied]:
    """Return the functions to empty: all of the paths, or a sample drawn with a seed."""
    folders = [ROOT / path for path in paths]
    files = [
        file for each in folders for file in ([each] if each.is_file() else each.rglob("*.py"))
    ]
    names = sorted({str(file.relative_to(ROOT)) for file in files})
    every = [one for name in names for one in emptied(name)]
    drawn = Random(seed).sample(every, len(every))
    return drawn[:sample]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the survivors and return the exit status."""
    parser = argparse.ArgumentParser(prog="empty_functions", description="Name untested functions.")
    parser.add_argument("paths", nargs="*", default=tuple(TESTS), help="modules or folders")
    parser.add_argument("--sample", type=int, help="empty this many functions (default: all)")
    parser.add_argument("--skip", type=int, default=0, help="leave out the first ones drawn")
    parser.add_argument("--seed", type=int, default=1, help="seed of the sample (default: 1)")
    parser.add_argument(
        "--seconds", type=float, default=1200, help="end after this (default: 1200)"
    )
    options = parser.parse_args(arguments)
    for path in options.paths:
        if not (ROOT / path).exists() or not path.startswith(tuple(TESTS)):
            parser.error(f"{path}: no module or folder of {', '.join(TESTS)}")
    print(f"seed {options.seed}, sample {options.sample or 'all'}: {', '.join(options.paths)}")
    ends, chosen = (
        time.monotonic() + options.seconds,
        sampled(options.paths, options.sample, options.seed)[options.skip :],
    )
    calls: dict[tuple[str, ...], Calls] = {}
    for tests in sorted({one.tests for one in chosen}):
        record = recorded(tests)
        if record is None:
            print(f"fail on unedited modules, or take too long: {' '.join(tests)}")
            return NO_BASELINE
        calls[tests] = record
    survivors = done = 0
    while done < len(chosen) and time.monotonic() < ends:
        one, done = chosen[done], done + 1
        status = status_of(one, calls[one.tests])
        word = WORDS.get(status, "noticed")
        survivors += status in {0, NOT_IMPORTED}
        print(f"{word:<9} {one.path}:{one.line} {one.name} -> {one.result}", flush=True)
    print(f"{done} of {len(chosen)} functions emptied, {survivors} survivors")
    return int(survivors > 0)


if __name__ == "__main__":
    sys.exit(main())
