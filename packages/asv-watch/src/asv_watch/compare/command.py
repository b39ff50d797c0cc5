"""Compares two or more commits, releases or interpreters."""

import dataclasses
import time
from collections.abc import Sequence
from itertools import count, pairwise
from pathlib import Path
from typing import Annotated

import typer

from asv_watch.answers import Answer, Difference, JsonFile, write_answer
from asv_watch.asv.declared import Declared
from asv_watch.asv.selection import SHORT, Selection, case_pattern, matching
from asv_watch.compare.report import differences_of, report
from asv_watch.engine import cases as suites
from asv_watch.engine.measuring import Compared, measure
from asv_watch.engine.rounds import CHANGE_IF_BUSY, Sampling
from asv_watch.engine.workplace import Side, check_room, interpreter_side, open_workplace, side
from asv_watch.errors import ExitStatus, WatchError
from asv_watch.judge.graph import machine_graphs
from asv_watch.machine.budget import Budget, parse_duration_s
from asv_watch.options import SIDE, After, Before, Cases, Machine, Release, TimeLimit, choose
from asv_watch.progress import human_time


def compare(
    sides: Annotated[
        list[str] | None,
        typer.Argument(
            metavar=f"[{SIDE}]...",
            help="Two or more sides, each compared with the next, instead of --before and "
            "--after; after --python, further interpreters.",
        ),
    ] = None,
    *,
    before: Before = "HEAD~1",
    after: After = "HEAD",
    python: Annotated[
        list[str] | None,
        typer.Option(
            "--python",
            metavar="PYTHON",
            help="Compare what is installed for interpreters, such as --python old/bin/python "
            "new/bin/python, and make no environments. A single one, or a version such as 3.13, "
            "is the Python that measures both sides.",
        ),
    ] = None,
    values: Annotated[
        bool,
        typer.Option(
            "--values",
            help="Compare peak memory and tracked values too; always done if no case is timed.",
        ),
    ] = False,
    fail_if_slower: Annotated[
        bool, typer.Option("--fail-if-slower", help="Exit with status 4 if a case got slower.")
    ] = False,
    against: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATTERN",
            help="Compare the cases of --cases with these, in the version --after; may be given "
            "several times. Cases belong together if groups of the patterns match the same text.",
        ),
    ] = None,
    json_file: JsonFile = "",
    limit: TimeLimit = "10min",
    cases: Cases = "",
    release: Release = "newest",
    machine: Machine = "",
) -> ExitStatus:
    """Compare sides in interleaved rounds and print the tables; store the result.

    Raises:
        WatchError: a side does not exist, or no case ran on both.
    """
    root, interpreters = Path.cwd(), python or []
    if len(interpreters) == 1 and not sides:
        choose(python=interpreters.pop())
    named = [*interpreters, *(sides or [])] or ([after] if against else [before, after])
    if against and (len(named) > 1 or not cases):
        raise WatchError("--against takes --cases and one version: --after, or one --python")
    if len(named) == 1 and not against:
        raise WatchError(f"{named[0]} is one side; name another one to compare")
    selection, limit_s = matching(cases, otherwise=SHORT), parse_duration_s(limit)
    with open_workplace(
        root, "compare", release=release, machine=machine, committed=False
    ) as workplace:
        versions = [
            interpreter_side(workplace, text) if interpreters else side(workplace, text, release)
            for text in named
        ]
        check_room(workplace.configuration, tuple(each.environment for each in versions))
        folders = suites.import_folders(workplace, versions)
        labels = {1: ("with ",), 2: ("before: ", "after:  ")}.get(
            len(versions), map("{}: ".format, count(1))
        )
        for label, version, folder in zip(labels, versions, folders, strict=False):
            built = f", {version.built}" if version.built else ""
            place = f", from {folder.removeprefix(f'{root}/')}" if folder else ""
            print(f"{label}{version.name}{built}{place}", flush=True)
        if not against and len({(version.source, version.python) for version in versions}) == 1:
            print("both sides are the same commit: the table shows the noise of this machine")
        listing = suites.list_benchmarks(workplace, versions, "" if against else selection.pattern)
        chosen = suites.choose_cases(listing.benchmarks, selection, workplace.declared)
        if against:
            patterns = [cases, *against]
            versions, chosen = pair_cases(
                versions[0], listing.benchmarks, patterns, workplace.declared
            )
        names = [version.name for version in versions]
        print(f"measuring takes {human_time(limit_s)} at most (--limit)", flush=True)
        timed = [case for case in chosen if case.is_timed]
        graphs = machine_graphs(workplace.configuration.results, workplace.machine)
        sampling = Sampling(
            change_if_busy=CHANGE_IF_BUSY, usual_spread=graphs.usual_spread["time"]
        )
        measured = measure(
            workplace,
            versions,
            chosen if values or not timed else timed,
            sampling=sampling,
            budget=Budget(limit_s, time.monotonic),
        )
    if not measured.cases:
        raise WatchError(f"no case has two rounds after {limit}; run the same again to go on")
    differences, failures = _print_tables(measured, names, workplace.machine)
    write_answer(Answer("compare", names[0], names[-1], differences), json_file)
    if measured.record is not None:
        print(f"stored in {measured.record.relative_to(root)}")
    elif all(each.version for each in versions):
        print("not stored: the interpreters hold the same releases, so nothing tells them apart")
    else:
        print("not stored: the working tree has changes that are not committed")
    if failures or listing.left_out:
        return ExitStatus.SOME_CASES_FAILED
    is_slower = fail_if_slower and any(difference.worse for difference in differences)
    return ExitStatus.SLOWER if is_slower else ExitStatus.DONE


def _print_tables(
    measured: Compared, names: Sequence[str], machine: str
) -> tuple[list[Difference], list[str]]:
    """Compare each side with the next, and the first with the last; return what failed too."""
    last = len(names) - 1
    indices = [*pairwise(range(len(names))), *([(0, last)] if last > 1 else [])]
    pairs = [dataclasses.replace(measured, before=old, after=new) for old, new in indices]
    if not any(compared.ratios for compared in pairs):
        measured.between(0, 1)
    differences: list[Difference] = []
    for compared in pairs:
        ends = names[compared.before], names[compared.after]
        found = differences_of(compared, machine, ends if last > 1 else ())
        print(f"\n{report(compared, found, *ends)}")
        differences += found
    return differences, [case for compared in pairs for case in compared.failures]


_Key = tuple[str, str, tuple[str | None, ...]]


def pair_cases(
    version: Side, benchmarks: suites.Benchmarks, patterns: Sequence[str], declared: Declared
) -> tuple[list[Side], list[suites.MeasurableCase]]:
    """Return a side for each pattern, and the cases that at least two of them have.

    Cases belong together if they measure the same kind of value, and if the groups of their
    patterns (what is in parentheses) match the same text.

    Raises:
        WatchError: a pattern matches no case, or several that belong together, or no two patterns
            have cases that do.
    """
    columns = [_by_groups(benchmarks, pattern, declared) for pattern in patterns]
    others: list[dict[str, str]] = [{} for _ in patterns]
    chosen: list[suites.MeasurableCase] = []
    for key in {key: None for column in columns for key in column}:
        row = [column.get(key) for column in columns]
        cases = [case for case in row if case]
        if len(cases) > 1:
            for case, other_cases in zip(row, others, strict=True):
                other_cases[cases[0].identity] = case.identity if case else ""
            chosen.append(
                dataclasses.replace(
                    cases[0],
                    timeout=max(case.timeout for case in cases),
                    cache_timeout=max(case.cache_timeout for case in cases),
                    can_fork=all(case.can_fork for case in cases),
                    process=next((case.process for case in cases if case.process), ""),
                    sides=tuple(case.name if case else "" for case in row),
                )
            )
    if not chosen:
        raise WatchError(
            f"no case of {patterns[0]} belongs to one of {' or '.join(patterns[1:])}: groups "
            "such as (time_.*) have to match the same text"
        )
    names = chosen[0].sides if len(chosen) == 1 else patterns
    sides = [
        dataclasses.replace(version, name=name or pattern, other_cases=other_cases)
        for name, pattern, other_cases in zip(names, patterns, others, strict=True)
    ]
    return sides, chosen


def _by_groups(
    benchmarks: suites.Benchmarks, pattern: str, declared: Declared
) -> dict[_Key, suites.MeasurableCase]:
    found: dict[_Key, suites.MeasurableCase] = {}
    for case in suites.choose_cases(benchmarks, Selection(pattern), declared):
        match = case_pattern(pattern).search(case.name)
        assert match is not None  # noqa: S101 - it is selected
        key = case.measures, case.unit, match.groups()
        if key in found:
            raise WatchError(
                f"{pattern} matches {found[key].name} and {case.name}; put what tells its cases "
                "apart in a group, such as (time_.*)"
            )
        found[key] = case
    return found
