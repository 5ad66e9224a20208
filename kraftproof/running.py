"""Execute a run, and write its reports: for `test`, `replay`, `shrink` and the pytest plug-in.

kraftproof/run executes. Progress goes to stderr.
"""

import shutil

from kraftproof import interrupts
from kraftproof.nemesis.schedule import Schedule
from kraftproof.options import RunOptions
from kraftproof.reporting import reported
from kraftproof.run.diagram_recorder import DiagramRecorder, diagram_of
from kraftproof.run.directory import make_run_directory, rounded
from kraftproof.run.display.phase_times import PhaseTimes
from kraftproof.run.display.progress import ConsoleProgress, Silence
from kraftproof.run.mishaps import writing
from kraftproof.run.runner import RunResult, execute


def run_and_report(
    options: RunOptions,
    schedule: Schedule,
    mutant_hash: str | None,
    *,
    guarded: bool = True,
    is_silent: bool = False,
) -> tuple[RunResult, dict[str, float]]:
    """Execute a run in a new directory of the store, and write its reports.

    Args:
        options: The options; `planning.plan` has found them possible.
        schedule: The faults.
        mutant_hash: The hash of the planted bug, if any.
        guarded: Whether the guards against a vacuous pass hold. Ctrl-C ends a run without guards
            as a whole: its directory is removed.
        is_silent: Whether no progress is shown.

    Returns:
        The result, and the duration of each phase in seconds.

    Raises:
        UsageError: the store can't be written to.
        HarnessError: a file of the run can't be written.
    """
    directory = make_run_directory(options)
    if guarded:
        interrupts.note(f"the verdict on {directory.path} is unknown")
    shown = Silence() if is_silent else ConsoleProgress()
    progress = PhaseTimes(shown)
    recorder = DiagramRecorder() if options.is_virtual else None
    try:
        progress.phase(f"seed {options.seed}, {directory.path}")
        result = execute(
            options,
            directory,
            schedule,
            progress,
            guarded=guarded,
            mutant_hash=mutant_hash,
            watch=recorder,
        )
        progress.phase("writing the report")
        with writing(directory.path):
            result = reported(result, lambda: diagram_of(recorder, result))
            progress.end()
            directory.write_phases(progress.seconds)
    except KeyboardInterrupt:
        if not guarded:
            shutil.rmtree(directory.path)
        raise
    finally:
        shown.close()
    return result, rounded(progress.seconds)
