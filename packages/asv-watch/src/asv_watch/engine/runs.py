"""Measures a single version, and stores what was measured of it, alone or in a comparison.

Cases of a version that a comparison measured are not measured again. A case is finished, stored
and resumed as in comparisons, in lines of the same kind (`asv_watch.comparison`); if a
run was killed, the rounds of its unfinished cases are kept (`asv_watch.engine.unfinished`).
"""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from asv_watch import probes
from asv_watch.asv.commands import NoCaseError, run_command
from asv_watch.asv.packages import make_environment
from asv_watch.asv.result_store import ResultStore, store_machine
from asv_watch.asv.selection import Selection
from asv_watch.asv.settings import EnvironmentSpec
from asv_watch.comparison import Comparison, Kind, Outcome, Sitting
from asv_watch.engine.cases import Benchmarks, MeasurableCase, list_benchmarks, select_cases
from asv_watch.engine.recipes import recipe_of_samples
from asv_watch.engine.sides import Side, commit_side
from asv_watch.engine.unfinished import find_unfinished
from asv_watch.engine.workplace import Workplace
from asv_watch.errors import MachineError, WatchError
from asv_watch.machine.budget import Budget, run_within
from asv_watch.machine.facts import machine_facts, machine_state
from asv_watch.records.result_files import is_finite_number
from asv_watch.records.side_files import FORKED, NOT_FORKED, PROCESSES
from asv_watch.records.suite_lists import read_machine_list, store_list
from asv_watch.versions.git import ask_git
from asv_watch.versions.releases import distribution

_ASKING_TIMEOUT = 120.0  # s: an import from a cold disk may take most of a minute
Outcomes = dict[str, tuple[Outcome, str]]
"""Maps a case to its outcome and the reason."""


def measure_missing(
    workplace: Workplace,
    commit: str,
    environment: EnvironmentSpec,
    selection: Selection,
    *,
    retry_failed: bool,
    budget: Budget | None = None,
) -> Outcomes:
    """Measure the cases of one commit in one environment that have no stored result.

    When the budget is spent, those that were finished are stored.

    Returns: The cases that ran, and those that newly turned out unable to run here.

    Raises:
        NoCaseError: nothing matches the selection.
        MachineError: the machine is to blame for a failure; what was measured before stays.
        WatchError: the commit cannot be measured at all.
    """
    version = commit_side(workplace, commit, environment, may_lack_package=True)
    benchmarks, failures = _list(workplace, version, commit)
    store = _open_store(workplace, version, benchmarks, "run")
    selected = list(select_cases(benchmarks, selection, workplace.declared))
    if not selected:
        raise NoCaseError(f"no case matches {selection}; try a part of a name")
    outcomes: Outcomes = {suite: (Outcome.FAILED, reason) for suite, reason in failures.items()}
    entries = _entries(benchmarks)
    missing: dict[str, MeasurableCase] = {}
    for case in selected:
        entry = entries[case.benchmark]
        if not case.cannot_run:
            if _is_missing(store, entry, case, retry_failed=retry_failed):
                missing[case.name] = case
        elif store.skip(entry, case.name, case.cannot_run):
            outcomes[case.name] = Outcome.SKIPPED, case.cannot_run

    def keep(result: Comparison) -> None:
        case = missing[result.case]
        store.add(entries[case.benchmark], case.index, result)
        outcomes[case.name] = result.outcome(0)

    if missing:
        with _recorded(workplace, store, version):
            unfinished = find_unfinished(workplace, [version], "run")
            cases = list(missing.values())
            run_within(budget, partial(unfinished.measure, cases, keep, budget=budget))
    return outcomes


def store_compared(
    workplace: Workplace,
    sides: Sequence[Side],
    benchmarks: Benchmarks,
    cases: Iterable[MeasurableCase],
    measured: Iterable[Comparison],
    index: int,
    kind: Kind,
) -> None:
    """Store what a comparison measured of one version, for the cases without a stored value.

    Args:
        workplace: the checkout.
        sides: the versions that were compared.
        benchmarks: entries of asv's list.
        cases: the cases that were compared.
        measured: their measurements.
        index: index of the version, which is a commit.
        kind: why they were compared.
    """
    version = sides[index]
    store = _open_store(workplace, version, benchmarks, kind, sides)
    entries = _entries(benchmarks)
    by_name = {case.name: case for case in cases}
    with _recorded(workplace, store, version):
        for result in measured:
            case = by_name.get(result.case)
            if case is None or not result.numbers(index):
                continue
            entry = entries[case.benchmark]
            if not is_finite_number(store.value(entry, case.index)):
                store.add(entry, case.index, result.alone(index))


def _list(workplace: Workplace, version: Side, commit: str) -> tuple[Benchmarks, dict[str, str]]:
    """List the suites' benchmarks; those of the newest commit are this machine's list.

    If a suite cannot be imported with a commit, its cases in the stored list count as failed.

    Returns:
        The benchmarks, and why suites that are in neither list cannot be imported.
    """
    results = workplace.configuration.results
    stored = read_machine_list(results, workplace.machine)
    make_environment(workplace.root, workplace.configuration.repository, version.environment)
    try:
        listing = list_benchmarks(workplace, [version])
    except WatchError:
        if not stored:
            raise
        return [workplace.declared.describe(entry) for entry in stored.values()], {}
    failing = {
        suite: [name for name in stored if name.startswith(f"{suite}.")]
        for suite in listing.failures
    }
    names = itertools.chain.from_iterable(failing.values())
    benchmarks = [
        *listing.benchmarks,
        *(workplace.declared.describe(stored[name]) for name in names),
    ]
    newest = ask_git(workplace.configuration.repository, "rev-parse", "HEAD")
    if not stored or commit == newest:
        suites = workplace.configuration.suites
        committed = ask_git(suites, "log", "-1", "--format=%ct", "--", ".")
        store_list(results, workplace.machine, _entries(benchmarks), int(committed or 0))
    return benchmarks, {
        suite: reason for suite, reason in listing.failures.items() if not failing[suite]
    }


def _entries(benchmarks: Benchmarks) -> dict[str, dict[str, Any]]:
    return {str(benchmark["name"]): benchmark for benchmark in benchmarks}


def _is_missing(
    store: ResultStore, entry: dict[str, Any], case: MeasurableCase, *, retry_failed: bool
) -> bool:
    value = store.value(entry, case.index)
    if value is None:
        return retry_failed
    if not is_finite_number(value) or not store.is_recorded:
        return not is_finite_number(value)
    # Without an outcome, the value is one of `asv run`, or of an earlier version of this package
    # that was killed: it stored the value first.
    return store.recorded(entry, case.name) is None


def _open_store(
    workplace: Workplace,
    side: Side,
    benchmarks: Benchmarks,
    kind: Kind,
    measured_with: Sequence[Side] = (),
) -> ResultStore:
    version, configuration = side.version, workplace.configuration
    assert version is not None  # noqa: S101 - it is a commit
    store_machine(configuration.results, workplace.machine)
    header = Sitting(
        kind=kind,
        at=int(time.time()),
        machine=workplace.machine,
        versions=(version,),
        recipe=recipe_of_samples(measured_with or [side]),
    )
    date = ask_git(configuration.repository, "log", "-1", "--format=%at", version.commit)
    store = ResultStore(configuration.results, header, int(date), side.environment)
    if store.set_aside:
        print(
            f"  {store.path.name} is damaged; it is now {store.set_aside}, and written again",
            flush=True,
        )
    store.restore(benchmarks)
    return store


@contextmanager
def _recorded(workplace: Workplace, store: ResultStore, version: Side) -> Iterator[None]:
    record = _describe(workplace, version)
    store.record(record)
    yield
    store.record(record | {"until": int(time.time()), "after": machine_state()})


def _describe(workplace: Workplace, version: Side) -> dict[str, Any]:
    """Return the record of a run that begins now (`asv_watch.records.side_files`)."""
    environment = version.environment
    record: dict[str, Any] = {"at": int(time.time()), "machine": machine_facts(), "details": {}}
    record["environment"] = {PROCESSES: FORKED if environment.fork_safe else NOT_FORKED}
    packages = [distribution(name) for name in environment.requirements]
    commands: list[list[object]] = [[probes.ENVIRONMENT, *packages]]
    if (script := workplace.declared.facts_script) is not None:
        commands.append([script])
    try:
        for command in commands:
            arguments = [str(version.python), "-P", *map(str, command)]
            printed = run_command(arguments, _ASKING_TIMEOUT, env=dict(version.variables))
            answer = json.loads(printed.splitlines()[-1])
            record["environment"] |= answer.get("facts", {})
            record["details"] |= answer.get("details", {})
    except (WatchError, MachineError, ValueError, LookupError) as error:
        # The values are as good without a description of the environment.
        print(f"  the environment could not be described: {error}", flush=True)
    return record | {"before": machine_state()}
