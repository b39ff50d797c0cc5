"""Explains a difference between two sides operator by operator.

Both sides are profiled in alternation, each time by a new process of the project's profiler, which
asv.conf.json names.
An operator *accounts for* the difference if all of its times on one side are above all on the
other; its contribution is the difference of the shortest times: interference only adds time.
"""

import itertools
import json
import math
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict

import msgspec

from asv_watch.asv.selection import EVERYTHING, matching
from asv_watch.engine.cases import MeasurableCase, find_case
from asv_watch.engine.workplace import Side, Workplace, open_workplace, side
from asv_watch.errors import ExitStatus, WatchError
from asv_watch.judge.causes import in_words
from asv_watch.machine.commands import run_command
from asv_watch.options import After, Before, Machine, OneCase, Release
from asv_watch.records import store
from asv_watch.records.labels import UNDECLARED, Layout
from asv_watch.text import quantities
from asv_watch.text.terminal import table

ROUNDS = 4
"""Profiles on each side. With four, complete separation happens by chance in 3 % of cases."""
_MOST_OPERATORS = 30


class _Operator(TypedDict):
    name: str
    shapes: str
    calls: float
    seconds: float


class _Kernel(TypedDict):
    primitive: str
    problem: str
    implementation: str


class Profile(TypedDict):
    """One call as a profiler prints it, unless it prints why the case is ``skipped``."""

    operators: list[_Operator]
    """With the shapes of their inputs."""
    kernels: list[_Kernel]
    """What a library chose for the operators."""
    counts: dict[str, float]
    """By name, such as ``dispatches``."""


def explain_case(
    workplace: Workplace, sides: tuple[Side, Side], case: MeasurableCase, rounds: int = ROUNDS
) -> store.Explanation:
    """Profile a case on two sides, compare its operators, and store the explanation.

    Nothing is stored if a side has changes that are not committed.

    Raises:
        WatchError: the project names no profiler, the case needs a GPU or times nothing, or it
            cannot be profiled on a side.
    """
    profiler = workplace.declared.profiler
    if profiler is None:
        raise WatchError(
            'asv.conf.json names no profiler; add "profiler": "FILE", a script that prints where '
            "the time of a case goes"
        )
    if not case.is_timed or not case.can_fork:
        raise WatchError(f"{case.name} times nothing on the CPU, so it cannot be explained")
    profiles: tuple[list[Profile], list[Profile]] = ([], [])
    with tempfile.TemporaryDirectory(prefix="asv-watch-") as folder:
        for number in range(rounds):
            for turn in (number % 2, 1 - number % 2):
                cached = Path(folder, str(turn))  # what `setup_cache` of a side keeps
                cached.mkdir(exist_ok=True)
                profiles[turn].append(_profile(profiler, sides[turn], case, cached))
    explanation = compare_profiles(*profiles)
    old, new = (side.version for side in sides)
    if old is not None and new is not None:
        stored = store.StoredExplanation(
            case=case.name, at=int(time.time()), before=old, after=new, explanation=explanation
        )
        store.append_lines(workplace.results / store.EXPLANATIONS, [stored])
    return explanation


def compare_profiles(before: Sequence[Profile], after: Sequence[Profile]) -> store.Explanation:
    """Compare the operators, kernels and counts of two sides; leave out what differs least."""
    times = [list(map(_calls_and_seconds, side)) for side in (before, after)]
    operators = []
    for key in dict.fromkeys(itertools.chain.from_iterable(times[0] + times[1])):
        (old_calls, old), (new_calls, new) = (
            zip(*(profile.get(key, (0.0, 0.0)) for profile in side), strict=True) for side in times
        )
        difference = store.OperatorDifference(
            *key,
            calls=(statistics.median(old_calls), statistics.median(new_calls)),
            seconds=(min(old), min(new)),
            clear=max(old) < min(new) or max(new) < min(old),
        )
        operators.append(difference)
    operators.sort(key=lambda operator: (not operator.clear, -abs(operator.difference)))
    return store.Explanation(
        seconds=(
            sum(operator.seconds[0] for operator in operators),
            sum(operator.seconds[1] for operator in operators),
        ),
        operators=tuple(operators[:_MOST_OPERATORS]),
        kernels=_kernel_changes(before[0], after[0]),
        counts={
            name: (float(count), float(after[0]["counts"][name]))
            for name, count in before[0]["counts"].items()
            if name in after[0]["counts"]
        },
    )


def _calls_and_seconds(profile: Profile) -> dict[tuple[str, str], tuple[float, float]]:
    return {
        (operator["name"], operator["shapes"]): (operator["calls"], operator["seconds"])
        for operator in profile["operators"]
    }


def _kernel_changes(before: Profile, after: Profile) -> tuple[store.KernelChange, ...]:
    chosen: list[dict[tuple[str, str], set[str]]] = [{}, {}]
    for index, profile in enumerate((before, after)):
        for kernel in profile["kernels"]:
            problem = kernel["primitive"], kernel["problem"]
            chosen[index].setdefault(problem, set()).add(kernel["implementation"])
    return tuple(
        store.KernelChange(*problem, *(tuple(sorted(each.get(problem, ()))) for each in chosen))
        for problem in dict.fromkeys((*chosen[0], *chosen[1]))
        if chosen[0].get(problem) != chosen[1].get(problem)
    )


def _profile(profiler: Path, side: Side, case: MeasurableCase, folder: Path) -> Profile:
    command = side.command(profiler, case.identity)
    try:
        printed = run_command(command, case.timeout, cwd=folder, env=side.variables)
    except WatchError as error:
        raise WatchError(f"{case.name} on {side.name} was not profiled: {error}") from error
    try:
        profile = json.loads(printed)
        if isinstance(profile, dict) and "skipped" in profile:
            raise WatchError(f"{case.name} is skipped on {side.name}")
        return msgspec.convert(profile, Profile)
    except (ValueError, msgspec.ValidationError) as error:
        raise WatchError(
            f"{case.name} on {side.name} was not profiled: {profiler.name} printed no profile "
            f"({error}); perhaps the case ended its process"
        ) from error


def explain(
    *,
    cases: OneCase,
    before: Before = "HEAD~1",
    after: After = "HEAD",
    release: Release = "newest",
    machine: Machine = "",
) -> ExitStatus:
    """Profile one case on two sides and print the operators that account for the difference.

    Raises:
        WatchError: the pattern matches no case or several, or a side cannot be profiled.
    """
    selection = matching(cases, otherwise=EVERYTHING)
    with open_workplace(Path.cwd(), "explain", release="all", machine=machine) as workplace:
        sides = side(workplace, before, release), side(workplace, after, release)
        case, status = find_case(workplace, sides, selection)
        print(f"profiling {case.name}", flush=True)
        explanation = explain_case(workplace, sides, case)
    names = sides[0].name, sides[1].name
    print(f"\n{report(explanation, *names, workplace.declared.layout)}")
    return status


_ROWS = 10
_COUNTS = {
    "dispatches": "dispatches",
    "flops": "FLOPs",
    "allocations": "allocations",
    "allocated_bytes": "bytes allocated",
}


def report(
    explanation: store.Explanation, before: str, after: str, layout: Layout = UNDECLARED
) -> str:
    """Return the operators that account for the difference, what else differs, and a summary."""
    clear = [operator for operator in explanation.operators if operator.clear]
    old, new = explanation.seconds
    difference = math.fsum(operator.difference for operator in clear)
    parts = [f"**{after}** against **{before}**"]
    if clear:
        head = ("operator", "input shapes", "calls", "self time before", "after", "difference")
        parts.append(table(head, [_row(operator) for operator in clear[:_ROWS]]))
    parts += [
        f"Kernels of {kernel.primitive} {kernel.problem}: "
        f"{', '.join(kernel.before) or 'not run'} → {', '.join(kernel.after) or 'not run'}"
        for kernel in explanation.kernels
    ]
    counts = [
        _count(words, *explanation.counts[name])
        for name, words in _COUNTS.items()
        if name in explanation.counts
    ]
    if counts:
        parts.append(f"In one call: {'; '.join(counts)}.")
    cause = in_words(explanation, layout=layout)
    parts.append(
        f"One call takes {_time(old)} in its operators before and {_time(new)} after, "
        f"under the profiler; the operators that differ clearly take {_signed(difference)} of it. "
        f"{cause[0].upper()}{cause[1:]}."
    )
    return "\n\n".join(parts)


def _count(words: str, before: float, after: float) -> str:
    """``1,200 dispatches``, or ``1,200 → 1,300 dispatches (+8.3 %)``."""
    if round(before) == round(after):
        return f"{before:,.0f} {words}"
    change = f" ({quantities.change(after / before, 'count')})" if before else ""
    return f"{before:,.0f} → {after:,.0f} {words}{change}"


def _row(operator: store.OperatorDifference) -> tuple[str, ...]:
    calls = " → ".join(f"{count:g}" for count in dict.fromkeys(operator.calls))
    before, after = operator.seconds
    times = _time(before), _time(after), _signed(operator.difference)
    return (f"`{operator.name}`", operator.shapes, calls, *times)


def _time(seconds: float) -> str:
    return quantities.quantity(seconds, "seconds")


def _signed(seconds: float) -> str:
    return (quantities.MINUS if seconds < 0 else "+") + _time(abs(seconds))
