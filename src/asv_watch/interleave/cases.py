"""Lists the cases that may run here: those that time something, and those that need no clock."""

from __future__ import annotations

import json
import os
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from asv_watch.asv.cases import cannot_run, case_name, cases_of
from asv_watch.asv.processes import listing_command
from asv_watch.asv.scratch import ScratchProject
from asv_watch.asv.selection import Selection, in_short_set
from asv_watch.asv.settings import Pair
from asv_watch.checkout.workplace import Workplace
from asv_watch.errors import WatchError
from asv_watch.interleave.commands import run_command
from asv_watch.interleave.processes import TimedCase
from asv_watch.interleave.sides import Side
from asv_watch.records.git import ask_git
from asv_watch.records.suite_lists import read_machine_list

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
    exact: bool
    """Whether every process gives the same value."""
    process: str
    """Cases with the same text here are measured by one process, one after the other."""
    suite: str
    """Such as ``suite.Class``."""
    parameters: tuple[str, ...]
    """Their values, as asv writes them."""


def list_cases(
    place: Workplace, pairs: Sequence[Pair], selection: Selection, commit: str = "HEAD"
) -> list[TimedCase]:
    """Make the environments where they are missing; list the cases that may run here.

    Args:
        place: the checkout, whose suites are asked.
        pairs: environments that will measure.
        selection: cases; of them, those that time something are listed.
        commit: any commit that can be installed.

    Raises:
        WatchError: no case matches that times something and can run here, or asv failed.
    """
    return timed_cases(list_benchmarks(place, pairs, commit), selection)


def list_benchmarks(place: Workplace, pairs: Sequence[Pair], commit: str = "HEAD") -> Benchmarks:
    """Make the environments where they are missing; list the suites' benchmarks.

    Args:
        place: the checkout, whose suites are asked.
        pairs: environments that will measure.
        commit: any commit that can be installed.

    Raises:
        WatchError: asv failed.
    """
    repository = place.configuration.repository
    folder = place.root / ".asv" / "interleaved" / "suites"
    project = ScratchProject(folder, place.root, repository)
    commit_hash = ask_git(repository, "rev-parse", commit)
    for pair in {pair.environment: pair for pair in pairs}.values():
        project.discover(commit_hash, pair, place.machine)
    return list(read_machine_list(project.results, place.machine).values())


def list_benchmarks_in(environment: Side, suites: Path) -> Benchmarks:
    """List the suites' benchmarks by an environment that asv does not manage.

    Args:
        environment: whose interpreter and package import the suites.
        suites: their folder.

    Raises:
        WatchError: the suites cannot be imported.
    """
    variables = dict(environment.pair.variables) | {"PYTHONPATH": str(environment.source)}
    with tempfile.TemporaryDirectory(prefix="asv-watch-") as folder:
        listed = Path(folder) / "benchmarks.json"
        command = listing_command(environment.python, suites, listed)
        run_command(command, _TIMEOUT, cwd=folder, env=os.environ | variables)
        return list(json.loads(listed.read_text(encoding="utf-8")))


def timed_cases(
    benchmarks: Iterable[dict[str, Any]], selection: Selection, *, needed: bool = True
) -> list[TimedCase]:
    """List the selected cases that time something and may run here.

    Args:
        benchmarks: entries of asv's list of benchmarks.
        selection: cases; of them, those that time something are listed.
        needed: there has to be one.

    Raises:
        WatchError: there is none, although one is needed.
    """
    cases = [
        TimedCase(
            name=name,
            identity=identity,
            timeout=float(benchmark.get("timeout") or _TIMEOUT),
            short=in_short_set(benchmark, params),
        )
        for benchmark, params, name, identity in _runnable(benchmarks, selection)
        if benchmark["type"] == "time"
    ]
    if needed and not cases:
        raise WatchError(_nothing_timed(benchmarks, selection))
    return cases


def _nothing_timed(benchmarks: Iterable[dict[str, Any]], selection: Selection) -> str:
    """Say that no case is timed, which others there are, and what compares those."""
    matches = f"matches {selection}" if str(selection) else "is in the suites"
    any_kind = replace(selection, times=False)
    others = Counter(str(benchmark["type"]) for benchmark, *_ in _runnable(benchmarks, any_kind))
    if not others:
        return f"no case that times something here {matches}; `asv show` names those measured"
    words = {"track": "track a value", "peakmemory": "measure peak memory"}
    listed = " and ".join(f"{count} {words.get(kind, kind)}" for kind, count in others.items())
    return (
        f"no case that times something here {matches}: {listed}; measure both versions with "
        "`asv run`, then `asv-watch compare --stored` compares the values"
    )


def value_cases(benchmarks: Benchmarks, selection: Selection) -> list[ValueCase]:
    """Return the selected cases of peak memory and exact counts that may run here."""
    return [
        ValueCase(
            name,
            identity,
            max(
                float(benchmark.get("timeout") or _TIMEOUT),
                float(benchmark.get("setup_cache_timeout") or 0.0),
            ),
            benchmark["unit"],
            exact=bool(benchmark.get("exact")),
            process=_process(benchmark, identity),
            suite=benchmark["name"].rpartition(".")[0],
            parameters=params,
        )
        for benchmark, params, name, identity in _runnable(benchmarks, selection)
        if benchmark["type"] == "peakmemory" or benchmark.get("exact")
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
    benchmarks: Iterable[dict[str, Any]], selection: Selection
) -> Iterator[tuple[dict[str, Any], tuple[str, ...], str, str]]:
    """Yield the selected cases as suites order them: benchmark, parameters, name and identity."""
    in_order = sorted(
        benchmarks, key=lambda benchmark: (benchmark.get("position", 5), str(benchmark["name"]))
    )
    for benchmark in in_order:
        for place, params in enumerate(cases_of(benchmark)):
            if selection.includes(benchmark, params) and not cannot_run(benchmark, params):
                number = f"-{place}" if benchmark["params"] else ""
                identity = f"{benchmark['name']}{number}"
                yield benchmark, params, case_name(benchmark, params), identity


def find_case(place: Workplace, pairs: Sequence[Pair], selection: Selection) -> TimedCase:
    """Return the only case that a selection matches.

    Args:
        place: the checkout, whose suites are asked.
        pairs: environments that will measure.
        selection: has to match one case that times something.

    Raises:
        WatchError: no case matches, or several do.
    """
    cases = list_cases(place, pairs, selection)
    if len(cases) > 1:
        raise WatchError(
            f"{selection} matches {len(cases)} cases, such as {cases[0].name} and "
            f"{cases[1].name}; name one"
        )
    return cases[0]
