"""The reasons why a run whose history and logs are in order proves nothing, one sentence each.

Any reason makes a run that would be valid unknown. See `checkers.judge.assembly` for the verdict.
"""

from collections.abc import Iterable, Sequence

from kraftproof.checkers.figures import Figures
from kraftproof.checkers.guards.facts import SECOND_NS, RunFacts
from kraftproof.checkers.guards.tally import Tally, targets_of, windows_of
from kraftproof.checkers.run_outcome import OUTCOME_FILE


def figures(facts: RunFacts, tally: Tally) -> Figures | None:
    """Return the figures of a run; None for a run without operations."""
    if facts.outcome is None or facts.span is None:
        return None
    started_ns, ended_ns = facts.span
    busy, _, quiet = windows_of(facts)
    quiet_ns = sum(stop - start for start, stop in quiet)
    kinds = sorted({event.kind for event in facts.faults})
    return Figures(
        ok=tally.ok,
        fail=tally.fail,
        info=tally.info,
        ok_in_faults=tally.ok_in_faults,
        quiet_share=quiet_ns / max(1, ended_ns - started_ns),
        quiet_ok_rate=tally.ok_when_quiet * SECOND_NS / max(1, quiet_ns),
        quiet=quiet,
        busy=busy,
        bitten=tuple((kind, _count(facts, "bitten", kind)) for kind in kinds),
        moot=_count(facts, "moot"),
        failed=_count(facts, "failed"),
        unread_keys=facts.outcome.unread_keys,
    )


def doubts(facts: RunFacts, tally: Tally) -> tuple[str, ...]:
    """Return a sentence for each reason why the run proves nothing."""
    outcome = facts.outcome
    if outcome is None:
        if not facts.is_ours:
            return ()
        return (
            f"the run has no {OUTCOME_FILE}: its harness has not ended, or died before the end",
        )
    mishaps = tuple(mishap.sentence for mishap in outcome.mishaps)
    if facts.is_damaged:
        return (*mishaps, _damage(facts.events, outcome.events))
    if not outcome.is_complete and not mishaps and not outcome.violations:
        return ("the run did not come to its end",)
    is_guarded = outcome.is_guarded and outcome.is_complete
    return (*mishaps, *(unmet(facts, tally) if is_guarded else ()))


def _damage(found: int | None, recorded: int | None) -> str:
    return (
        f"the history is damaged: it has {found} events, and the run recorded {recorded} "
        f"({OUTCOME_FILE}), so no finding counts"
    )


def unmet(facts: RunFacts, tally: Tally) -> tuple[str, ...]:
    """Return a sentence for each guard that the run does not meet."""
    found = figures(facts, tally)
    if found is None:
        return ("the run did not get to its first operation",)
    sentences = [*_weak_faults(facts, found), *_silence(facts, tally, found)]
    if found.unread_keys:
        sentences.append(f"{found.unread_keys} keys could not be read after healing")
    return tuple(sentences)


def _weak_faults(facts: RunFacts, found: Figures) -> Iterable[str]:
    """Yield the guards about faults that are not met."""
    fewest, bitten = facts.bounds.fewest_bitten, dict(found.bitten)
    for kind in facts.nemeses:
        if bitten.get(kind, 0) < fewest:
            number = bitten.get(kind, 0)
            have = "1 fault has" if number == 1 else f"{number} faults have"
            yield f"{kind}: {have} bitten, at least {fewest} are needed"
    for event in facts.faults:
        if event.phase == "failed":
            yield f"fault {event.fault} ({event.kind}) failed: {event.detail}"


def _silence(facts: RunFacts, tally: Tally, found: Figures) -> Iterable[str]:
    """Yield the guards about operations that are not met."""
    least_quiet = facts.bounds.quiet_share
    if found.ok == 0:
        yield "no operation succeeded"
    if facts.nemeses and found.quiet_share < least_quiet:
        yield f"{found.quiet_share:.0%} of the run was quiet, at least {least_quiet:.0%} is needed"
    if found.quiet and found.quiet_ok_rate == 0:
        yield "no operation succeeded in the quiet windows"
    _, partial, _ = windows_of(facts)
    if partial and not tally.ok_in_partial_faults:
        yield f"no operation succeeded while faults were in force {_advice(facts)}"


def _advice(facts: RunFacts) -> str:
    """Return in brackets which nodes the faults hit, and after them what to change."""
    applied = [event for event in facts.faults if event.phase == "applied"]
    hit = sorted({node for event in applied for node in targets_of(event)})
    ways = ["let faults last until the system has failed over"]
    if len(hit) == 1:
        other = "let faults hit other nodes (another --seed, or --faults FILE)"
        ways = [other, "or let them last until the system has failed over"]
    place = f", all of node {hit[0]}" if len(hit) == 1 else f", of nodes {_listed(hit)}"
    count = "1 fault" if len(applied) == 1 else f"{len(applied)} faults"
    return f"({count}{place if hit else ''}): {', '.join(ways)}"


def _listed(numbers: Sequence[int]) -> str:
    *first, last = map(str, numbers)
    return f"{', '.join(first)} and {last}" if first else last


def _count(facts: RunFacts, phase: str, kind: str | None = None) -> int:
    return sum(event.phase == phase and kind in {None, event.kind} for event in facts.faults)
