"""Lists the cases that may run here: those that time something, and those that need no clock."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from asv_watch import probes
from asv_watch.asv.commands import discover, run_command
from asv_watch.asv.declared import Declared
from asv_watch.asv.environments import is_complete
from asv_watch.asv.processes import listing_command
from asv_watch.asv.selection import (
    Selection,
    cannot_run,
    case_name,
    cases_of,
    in_short_set,
    process_name,
)
from asv_watch.errors import WatchError
from asv_watch.interleave.processes import TimedCase
from asv_watch.interleave.sides import Side
from asv_watch.records.git import ask_git
from asv_watch.records.suite_lists import read_machine_list
from asv_watch.workplace import Workplace

_TIMEOUT = 300.0  # s: asv.conf.json's default, of suites that name none
Benchmarks = list[dict[str, Any]]
"""Entries of asv's list."""


@dataclass(frozen=True, slots=True)
class ValueCase:
    """A case that measures peak memory or an exact count."""

    name: str
    """Such as ``suite.Class.peakmem_x('darnn', 'cpu')``."""
    identity: str
    """The benchmark's name and the case's place among its cases: ``suite.Class.peakmem_x-0``."""
    timeout: float
    """Seconds that it may take, together with the ``setup_cache`` of its suite."""
    unit: str
    is_peak: bool
    """Whether it is peak memory."""
    exact: bool
    """Whether every process gives the same value."""
    process: str
    """Cases with the same text here are measured by one process, one after the other."""
    suite: str
    """Such as ``suite.Class``."""
    parameters: tuple[str, ...]
    """Their values, as asv writes them."""


MeasurableCase = TimedCase | ValueCase


def list_cases(
    place: Workplace, sides: Sequence[Side], selection: Selection
) -> list[MeasurableCase]:
    """Make the environments where they are missing; list the cases that may run here.

    Raises:
        WatchError: no case matches that measures these and can run here, or asv failed.
    """
    return measurable_cases(list_benchmarks(place, sides), selection, place.declared)


def measurable_cases(
    benchmarks: Benchmarks, selection: Selection, declared: Declared, *, needed: bool = True
) -> list[MeasurableCase]:
    """List the selected cases of time and peak memory that may run here.

    Raises:
        WatchError: there is none, although one is needed.
    """
    peaks = [case for case in value_cases(benchmarks, selection, declared) if case.is_peak]
    needed = needed and not peaks
    return [*timed_cases(benchmarks, selection, declared, needed=needed), *peaks]


def list_benchmarks(place: Workplace, sides: Sequence[Side]) -> Benchmarks:
    """Make the environments where they are missing; list the suites' benchmarks by the last side.

    asv installs the commit to list them, and tries others if the suites cannot be imported with
    it. Both take long, so it is asked only where the environment of a side is missing or the
    suites cannot be imported with its package.

    Raises:
        WatchError: asv failed, or the suites do not import the side's package.
    """
    benchmarks = _listed(place, sides)
    _check_imports(sides[-1], place.configuration.suites)
    return benchmarks


def _listed(place: Workplace, sides: Sequence[Side]) -> Benchmarks:
    listing, environments = sides[-1], [side.environment for side in sides]
    if all(is_complete(environment.folder) for environment in environments):
        with contextlib.suppress(WatchError):
            return list_benchmarks_in(listing, place.configuration.suites, place.declared)
    repository = place.configuration.repository
    folder = place.root / ".asv" / "interleaved" / "suites"
    commit = listing.version.commit if listing.version else "HEAD"
    commit_hash = ask_git(repository, "rev-parse", commit)
    results = discover(folder, place.root, repository, commit_hash, environments, place.machine)
    return list(read_machine_list(results, place.machine).values())


def _check_imports(side: Side, suites: Path) -> None:
    """Refuse suites that import the package from elsewhere, by a change of ``sys.path``.

    Raises:
        WatchError: they do, so that both sides would measure the same code.
    """
    changing = [
        file
        for file in sorted(suites.rglob("*.py"))
        if "sys.path" in file.read_text(encoding="utf-8", errors="replace")
    ]
    if not changing:
        return
    with tempfile.TemporaryDirectory(prefix="asv-watch-") as folder:
        elsewhere: dict[str, str] = json.loads(
            run_command(
                [str(side.python), "-P", str(probes.IMPORTED), str(suites), str(side.source)],
                _TIMEOUT,
                cwd=folder,
                env=os.environ
                | dict(side.environment.variables)
                | {"PYTHONPATH": str(side.source)},
            )
        )
    for name, file in elsewhere.items():
        suite = changing[0].relative_to(suites.parent)
        raise WatchError(
            f"the suites import {name} from {file}, not from the commit, so that both sides would "
            f"be the same; in {suite}, write sys.path.append(folder) instead of putting it first"
        )


def list_benchmarks_in(side: Side, suites: Path, declared: Declared) -> Benchmarks:
    """List the suites' benchmarks by the environment and the package of a side.

    Raises:
        WatchError: the suites cannot be imported.
    """
    # asv's script takes the folders of PYTHONPATH out again.
    variables = dict(side.environment.variables) | {"ASV_PYTHONPATH": str(side.source)}
    with tempfile.TemporaryDirectory(prefix="asv-watch-") as folder:
        listed = Path(folder) / "benchmarks.json"
        command = listing_command(side.python, suites, listed)
        run_command(command, _TIMEOUT, cwd=folder, env=os.environ | variables)
        return list(map(declared.describe, json.loads(listed.read_text(encoding="utf-8"))))


def timed_cases(
    benchmarks: Iterable[dict[str, Any]],
    selection: Selection,
    declared: Declared,
    *,
    needed: bool = True,
) -> list[TimedCase]:
    """List the selected cases that time something and may run here.

    Raises:
        WatchError: there is none, although one is needed.
    """
    cases = [
        TimedCase(
            name=name,
            identity=identity,
            timeout=float(benchmark.get("timeout") or _TIMEOUT),
            short=in_short_set(benchmark, params),
            can_fork=not declared.uses_gpu(name),
        )
        for benchmark, params, name, identity in _runnable(benchmarks, selection, declared)
        if benchmark["type"] == "time"
    ]
    if needed and not cases:
        raise WatchError(_nothing_timed(benchmarks, selection, declared))
    return cases


def _nothing_timed(
    benchmarks: Iterable[dict[str, Any]], selection: Selection, declared: Declared
) -> str:
    """Say that no case is timed, which others there are, and what compares those."""
    matches = f"matches {selection}" if str(selection) else "is in the suites"
    any_kind = replace(selection, times=False)
    others = Counter(
        str(benchmark["type"]) for benchmark, *_ in _runnable(benchmarks, any_kind, declared)
    )
    if not others:
        return f"no case that times something here {matches}; `asv show` names those measured"
    words = {"track": "track a value", "peakmemory": "measure peak memory"}
    listed = " and ".join(f"{count} {words.get(kind, kind)}" for kind, count in others.items())
    return (
        f"no case that times something here {matches}: {listed}; "
        "`asv-watch compare --values --fail-if-slower` compares these"
    )


def value_cases(
    benchmarks: Benchmarks, selection: Selection, declared: Declared, *, tracked: bool = False
) -> list[ValueCase]:
    """Return the selected cases of peak memory and exact counts that may run here.

    Args:
        benchmarks: entries of asv's list.
        selection: of cases.
        declared: what the suites declare.
        tracked: list every ``track_*``, not only those that are declared to be exact.
    """
    return [
        ValueCase(
            name,
            identity,
            max(
                float(benchmark.get("timeout") or _TIMEOUT),
                float(benchmark.get("setup_cache_timeout") or 0.0),
            ),
            benchmark["unit"],
            is_peak=benchmark["type"] == "peakmemory",
            exact=bool(benchmark.get("exact")),
            process=_process(benchmark, identity),
            suite=benchmark["name"].rpartition(".")[0],
            parameters=params,
        )
        for benchmark, params, name, identity in _runnable(benchmarks, selection, declared)
        if benchmark["type"] == "peakmemory"
        or benchmark.get("exact")
        or (tracked and benchmark["type"] == "track")
    ]


def _process(benchmark: dict[str, Any], identity: str) -> str:
    """Name the process that measures a case.

    Peak memory is that of a whole process. Exact values of benchmarks with ``may_fork`` share one
    process. Other exact values share a process only with those of the same suite and parameters.
    """
    if benchmark["type"] == "peakmemory":
        return identity
    if benchmark.get("may_fork"):
        return ""
    suite = benchmark["name"].rpartition(".")[0]
    return f"{suite}{identity.removeprefix(benchmark['name'])}"


def _runnable(
    benchmarks: Iterable[dict[str, Any]], selection: Selection, declared: Declared
) -> Iterator[tuple[dict[str, Any], tuple[str, ...], str, str]]:
    """Yield the selected cases as suites order them: benchmark, parameters, name and identity."""
    in_order = sorted(
        benchmarks, key=lambda benchmark: (benchmark.get("position", 5), str(benchmark["name"]))
    )
    for benchmark in in_order:
        for index, params in enumerate(cases_of(benchmark)):
            if selection.includes(benchmark, params) and not cannot_run(
                benchmark, params, declared
            ):
                identity = process_name(benchmark, index)
                yield benchmark, params, case_name(benchmark, params), identity


def find_case(place: Workplace, sides: Sequence[Side], selection: Selection) -> MeasurableCase:
    """Return the only case of time that a selection matches, or else the only one of any kind.

    Raises:
        WatchError: no case matches, or several do.
    """
    benchmarks, declared = list_benchmarks(place, sides), place.declared
    others = value_cases(benchmarks, selection, declared, tracked=True)
    cases = timed_cases(benchmarks, selection, declared, needed=not others) or others
    if len(cases) > 1:
        raise WatchError(
            f"{selection} matches {len(cases)} cases, such as {cases[0].name} and "
            f"{cases[1].name}; name one"
        )
    return cases[0]
