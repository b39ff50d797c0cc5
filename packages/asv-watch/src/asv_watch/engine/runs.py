"""Measures a single version: a run is a sitting of one version in the record.

A case is finished, stored and resumed as in comparisons. A night's comparison is also a run of the
newer commit (`asv_watch.records.store`), so cases that it measured are not measured again. When a
run ends, it is exported to asv's file of the commit (`asv_watch.asv.export`).
"""

import contextlib
import itertools
import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from asv_watch import probes
from asv_watch.asv.environments import make_environment
from asv_watch.asv.export import export_run, result_file, store_machine
from asv_watch.asv.selection import Selection, cases_of
from asv_watch.asv.settings import ASKING_TIMEOUT_S, EnvironmentSpec
from asv_watch.comparison import Comparison, Conditions, Outcome
from asv_watch.engine.cases import Benchmarks, MeasurableCase, list_benchmarks, select_cases
from asv_watch.engine.measuring import measure
from asv_watch.engine.workplace import Side, Workplace, commit_side
from asv_watch.errors import MachineError, WatchError
from asv_watch.machine.budget import Budget, is_spent
from asv_watch.machine.commands import run_command
from asv_watch.machine.facts import machine_facts, machine_state
from asv_watch.progress import human_time
from asv_watch.records import asv_files
from asv_watch.records.records import FORKED, NOT_FORKED, PROCESSES, case_name
from asv_watch.records.store import RunKey, newest_of_runs, read_record
from asv_watch.versions.git import ask_git, commits_changing
from asv_watch.versions.version import distribution


class NoCaseError(WatchError):
    """No case matches the selection of a run."""


Outcomes = dict[str, tuple[Outcome, str]]
"""Maps a case to its outcome and the reason."""


@dataclass
class Tally:
    """Outcomes of the cases of a run, counted."""

    counts: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    """A line for each case that failed or timed out."""

    def add(self, outcomes: Outcomes) -> None:
        """Count the outcomes of one run."""
        for case, (outcome, reason) in outcomes.items():
            self.counts[outcome.value] += 1
            if outcome in {Outcome.FAILED, Outcome.TIMED_OUT}:
                self.failures.append(f"{case} {outcome.value}: {reason or 'no message'}")

    def add_failures(self, reasons: Mapping[str, str], how: str) -> None:
        """Add the cases that failed in a comparison; ``how`` names it: ``measured again``."""
        self.failures += [f"{case}, {how}, failed: {why}" for case, why in reasons.items()]

    def __str__(self) -> str:
        if not self.counts:
            return "nothing was missing"
        return ", ".join(f"{count} {outcome}" for outcome, count in sorted(self.counts.items()))


def measure_commit(
    workplace: Workplace,
    commit: str,
    environment: EnvironmentSpec,
    selection: Selection,
    *,
    retry_failed: bool,
    budget: Budget | None = None,
    after_each: Callable[[], None] = lambda: None,
) -> Outcomes:
    """Measure the cases of one commit in one environment that have no stored result; say so.

    When the budget is spent, those that were finished are stored. ``after_each`` is called when
    one has been.

    Returns: The cases that ran, and those that newly turned out unable to run here.

    Raises:
        NoCaseError: nothing matches the selection.
        MachineError: the machine is to blame for a failure; what was measured before stays.
        WatchError: the commit cannot be measured at all.
    """
    repository = workplace.configuration.repository
    subject = ask_git(repository, "log", "-1", "--format=%h %s", commit)
    print(f"{subject}\n  with {environment.label}, on {workplace.machine}", flush=True)
    started = time.monotonic()
    side = commit_side(workplace, commit, environment)
    benchmarks, failures = _list(workplace, side, commit)
    selected = list(select_cases(benchmarks, selection, workplace.declared))
    if not selected:
        raise NoCaseError(f"no case matches {selection}; try a part of a name")
    outcomes: Outcomes = {suite: (Outcome.FAILED, reason) for suite, reason in failures.items()}
    with exported(workplace, commit, environment, benchmarks):
        known = _known(workplace, commit, environment, benchmarks)
        missing: list[MeasurableCase] = []
        unable: list[Comparison] = []
        for case in selected:
            outcome, reason = known.get(case.name, (Outcome.NEVER_RUN, ""))
            if case.cannot_run:
                if (outcome, reason) != (Outcome.SKIPPED, case.cannot_run):
                    result = Comparison(
                        case.name,
                        int(time.time()),
                        case.unit,
                        skipped={0: case.cannot_run},
                        benchmark_version=case.version,
                    )
                    unable.append(result)
            elif outcome in {Outcome.NEVER_RUN, Outcome.SKIPPED} or (
                outcome is not Outcome.OK and retry_failed
            ):
                missing.append(case)

        def keep(result: Comparison) -> None:
            outcomes[result.case] = result.outcome(0)
            after_each()

        if missing or unable:
            measure(
                workplace,
                [side],
                newest_first(workplace.configuration.suites, missing),
                "run",
                extra=unable,
                budget=budget,
                conditions=conditions_of(workplace, side),
                keep=keep,
            )
    if outcomes or not is_spent(budget):
        tally = Tally()
        tally.add(outcomes)
        print(f"  {tally} in {human_time(time.monotonic() - started)}", flush=True)
    return outcomes


def newest_first(suites: Path, cases: Iterable[MeasurableCase]) -> list[MeasurableCase]:
    """Put the cases whose suites git says changed last first: a long run shows them soon.

    Those of one file stay in their order.
    """
    log = ask_git(suites, "log", "--format=", "--name-only", "--relative", "--", ".")
    changed: dict[str, int] = {}
    for name in log.splitlines():
        changed.setdefault(name.partition("/")[0].removesuffix(".py"), len(changed))
    return sorted(cases, key=lambda case: changed.get(case.name.partition(".")[0], -1))


@contextlib.contextmanager
def exported(
    workplace: Workplace, commit: str, environment: EnvironmentSpec, benchmarks: Benchmarks
) -> Iterator[None]:
    """Export all that is stored of a commit to asv's file, however the block ends."""
    configuration = workplace.configuration
    path = result_file(configuration.results, workplace.machine, commit, environment)
    store_machine(configuration.results, workplace.machine)
    date = ask_git(configuration.repository, "log", "-1", "--format=%at", commit)
    try:
        yield
    finally:
        if measured := _measured(workplace, commit, environment):
            export_run(path, commit, int(date), environment, benchmarks, measured)


def _measured(
    workplace: Workplace, commit: str, environment: EnvironmentSpec
) -> dict[str, Comparison]:
    """Return what the record has of a commit in an environment, by case."""
    comparisons, _ = read_record(workplace.configuration.results, workplace.machine)
    key = RunKey(workplace.machine, environment.stored_as, commit)
    cases = newest_of_runs(comparisons).get(key, {})
    return {
        name: case for name, case in cases.items() if case.outcome(0)[0] is not Outcome.NEVER_RUN
    }


def _known(
    workplace: Workplace, commit: str, environment: EnvironmentSpec, benchmarks: Benchmarks
) -> Outcomes:
    """Return what is stored of the cases of today's code, by the engine or by `asv run`."""
    versions = {
        case_name(entry["name"], params): entry["version"]
        for entry in benchmarks
        for params in cases_of(entry)
    }
    known: Outcomes = {}
    results = workplace.configuration.results
    path = result_file(results, workplace.machine, commit, environment)
    with contextlib.suppress(asv_files.DamagedError):  # or missing: it is measured anew
        stored = asv_files.read_results(path)
        for name, of_code in stored.benchmark_version.items():
            for params, run in asv_files.runs_of(stored, name):
                if versions.get(case := case_name(name, params)) == of_code:
                    known[case] = run.outcome, run.reason
    for name, measured in _measured(workplace, commit, environment).items():
        if versions.get(name) == measured.benchmark_version:
            known[name] = measured.outcome(0)
    return known


def _list(workplace: Workplace, version: Side, commit: str) -> tuple[Benchmarks, dict[str, str]]:
    """List the suites' benchmarks, and why suites that are in no list cannot be imported.

    They are this machine's list, unless a later commit may change values. If a suite cannot be
    imported with a commit, its cases in the stored list count as failed.
    """
    configuration = workplace.configuration
    results, suites = configuration.results, configuration.suites
    stored = asv_files.read_machine_list(results, workplace.machine)
    make_environment(workplace.root, configuration.repository, version.environment)
    try:
        listing = list_benchmarks(workplace, [version])
    except WatchError:
        if not stored:
            raise
        return [workplace.declared.describe(entry) for entry in stored.values()], {}
    failing = {
        suite: [entry for name, entry in stored.items() if name.startswith(f"{suite}.")]
        for suite in listing.failures
    }
    described = map(workplace.declared.describe, itertools.chain(*failing.values()))
    benchmarks = [*listing.benchmarks, *described]
    measured = configuration.measured_paths
    later = commits_changing(configuration.repository, f"{commit}..HEAD", measured)
    if not stored or not later:
        committed = ask_git(suites, "log", "-1", "--format=%ct", "--", ".")
        entries = {str(benchmark["name"]): benchmark for benchmark in benchmarks}
        asv_files.store_list(results, workplace.machine, entries, int(committed or 0))
    return benchmarks, {
        suite: reason for suite, reason in listing.failures.items() if not failing[suite]
    }


def conditions_of(workplace: Workplace, side: Side) -> Conditions:
    """Describe the machine and the environment of a version before it is measured."""
    environment = side.environment
    facts = {PROCESSES: FORKED if environment.fork_safe else NOT_FORKED}
    details: dict[str, Any] = {}
    packages = [distribution(name) for name in environment.requirements]
    commands: list[list[object]] = [[probes.ENVIRONMENT, *packages]]
    if (script := workplace.declared.facts_script) is not None:
        commands.append([script])
    try:
        for command in commands:
            arguments = [str(side.python), "-P", *map(str, command)]
            printed = run_command(arguments, ASKING_TIMEOUT_S, env=dict(side.variables))
            answer = json.loads(printed.splitlines()[-1])
            facts |= answer.get("facts", {})
            details |= answer.get("details", {})
    except (WatchError, MachineError, ValueError, LookupError) as error:
        # The values are as good without a description of the environment.
        print(f"  the environment could not be described: {error}", flush=True)
    return Conditions(
        environment=environment.stored_as,
        variables=dict(environment.variables),
        machine=machine_facts(),
        facts=facts,
        details=details,
        before=machine_state(),
    )
