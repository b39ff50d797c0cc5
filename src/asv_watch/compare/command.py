"""Compares two or more commits, releases or interpreters."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Annotated

import typer

from asv_watch.answers import Answer, JsonFile, write_answer
from asv_watch.asv.chosen import choose
from asv_watch.asv.selection import SHORT, matching
from asv_watch.compare.files import Sort, compare_files
from asv_watch.compare.measure import measure
from asv_watch.compare.report import differences_of, report
from asv_watch.compare.stored import compare_stored
from asv_watch.engine.cases import choose_cases, list_benchmarks
from asv_watch.engine.rounds import CHANGE_IF_BUSY, Sampling
from asv_watch.engine.sides import Side, interpreter_side, side
from asv_watch.engine.workplace import check_room, open_workplace
from asv_watch.errors import ExitStatus, WatchError
from asv_watch.judge.graph import machine_graphs
from asv_watch.options import SIDE, After, Before, Cases, Machine, Release


def compare(
    sides: Annotated[
        list[str] | None,
        typer.Argument(
            metavar=f"[{SIDE}]...",
            help="Two or more sides, each compared with the next, instead of --before and "
            "--after; after --python, further interpreters. Or result files (.json) from "
            "anywhere, each compared with the first: nothing is measured, no project is needed.",
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
            "new/bin/python, and make no environments. A version, such as 3.13, chooses the "
            "Python of environments.",
        ),
    ] = None,
    stored: Annotated[
        bool,
        typer.Option(
            "--stored",
            help="Compare what is stored, and measure nothing. A side is "
            "MACHINE:COMMIT@ENVIRONMENT, of which all but the commit may be left out.",
        ),
    ] = False,
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
    labels: Annotated[
        str, typer.Option(metavar="A,B", help="Result files: what the table calls them.")
    ] = "",
    sort: Annotated[
        Sort | None,
        typer.Option(help="Result files: order of the rows; by default the largest change first."),
    ] = None,
    only_changed: Annotated[
        bool, typer.Option("--only-changed", help="Result files: only cases that differ.")
    ] = False,
    json_file: JsonFile = "",
    cases: Cases = "",
    release: Release = "newest",
    machine: Machine = "",
) -> ExitStatus:
    """Compare sides in interleaved rounds and print the tables; store the result.

    Raises:
        WatchError: a side does not exist, or no case ran on both.
    """
    root = Path.cwd()
    named = sides or []
    are_files = bool(named) and all(text.endswith(".json") for text in named)
    if not are_files and (labels or sort or only_changed):
        raise typer.BadParameter("--labels, --sort and --only-changed need result files (.json)")
    if are_files or stored:
        text, answer = (
            compare_files(
                list(map(Path, named)),
                labels.split(",") if labels else (),
                cases=cases,
                sort=sort or "change",
                only_changed=only_changed,
            )
            if are_files
            else compare_stored(root, *_two(named or [before, after]), cases=cases)
        )
        print(text)
        write_answer(answer, json_file)
        return ExitStatus.SLOWER if answer.is_slower and fail_if_slower else ExitStatus.DONE
    interpreters: list[str] = []
    if python and not named and len(python) == 1 and os.sep not in python[0]:
        choose("", "", python[0])
    elif python:
        interpreters, named = [*python, *named], []
    if len(interpreters or named) == 1:
        raise WatchError(f"{(interpreters or named)[0]} is one side; name another one to compare")
    selection = matching(cases, otherwise=SHORT)
    with open_workplace(
        root, "compare", release=release, machine=machine, committed=False
    ) as workplace:
        versions = [interpreter_side(workplace, path) for path in interpreters] or [
            side(workplace, text, release) for text in named or [before, after]
        ]
        check_room(workplace.configuration, tuple(each.environment for each in versions))
        _print_names(versions)
        listing = list_benchmarks(workplace, versions, selection.pattern)
        chosen = choose_cases(listing.benchmarks, selection, workplace.declared)
        timed = [case for case in chosen if case.is_timed]
        graphs = machine_graphs(workplace.configuration.results, workplace.machine)
        sampling = Sampling(
            change_if_busy=CHANGE_IF_BUSY, usual_spread=graphs.noise("time").usual_spread
        )
        measured = measure(
            workplace, versions, chosen if values or not timed else timed, sampling=sampling
        )
    last = len(versions) - 1
    pairs = [*pairwise(range(len(versions))), *([(0, last)] if last > 1 else [])]
    results, differences = [], []
    for old, new in pairs:
        results.append(measured.between(old, new))
        names = versions[old].name, versions[new].name
        found = differences_of(results[-1], workplace.machine, names if last > 1 else ())
        print(f"\n{report(results[-1], found, *names)}")
        differences += found
    ends = versions[0].name, versions[last].name
    answer = Answer("compare", *ends, differences)
    write_answer(answer, json_file)
    if measured.path is not None:
        print(f"stored in {measured.path.relative_to(root)}")
    elif all(each.version for each in versions):
        print("not stored: the interpreters hold the same releases, so nothing tells them apart")
    else:
        print("not stored: the working tree has changes that are not committed")
    if listing.left_out or any(compared.failed for compared in results):
        return ExitStatus.SOME_CASES_FAILED
    return ExitStatus.SLOWER if answer.is_slower and fail_if_slower else ExitStatus.DONE


def _two(named: Sequence[str]) -> tuple[str, str]:
    if len(named) != 2:
        raise typer.BadParameter("--stored compares two sides")
    return named[0], named[1]


def _print_names(sides: Sequence[Side]) -> None:
    if len(sides) == 2:
        print(f"before: {sides[0].name}\nafter:  {sides[1].name}", flush=True)
    else:
        for number, each in enumerate(sides, start=1):
            print(f"{number}: {each.name}", flush=True)
