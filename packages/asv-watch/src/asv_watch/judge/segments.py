"""Runs under the same conditions: events that change them, segments between events, noise.

A change of the recipe, of ``asv_runner`` or of a condition of the machine can look like a change
of speed. It is shown as an event, and ends a segment of a series: suspicions and noise never reach
across it. Conditions are the facts of the machine, environment variables, the number of threads
and how processes are started. Installed packages are not conditions: they are what is measured, as
much as the code.

A segment ends where a fact is first *recorded* with another value than the last recorded one
(`_changes`).
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

import msgspec
import numpy as np

from asv_watch.comparison import Conditions
from asv_watch.records.history import History, Series
from asv_watch.records.records import PROCESSES, recipe_facts


class Event(msgspec.Struct, frozen=True):
    """A fact about a machine, an environment or a recipe that differs from the commit before."""

    machine: str
    environment: str
    """Empty for a fact of the machine, which concerns all of its environments."""
    commit: str
    """First measured commit with the new fact."""
    fact: str
    """Name of the fact: ``kernel``, ``python``, ``variable OMP_NUM_THREADS``; ``environment`` for
    an environment that this machine had not measured with before; ``recipe rounds`` and the like
    for how samples are taken, ``recipe asv_runner`` for what takes them."""
    before: str
    """Last recorded value, empty for a variable that was not set and for an environment."""
    after: str
    """New value, empty for a variable that is not set any more."""


_VARIABLE = "variable "
_SOFTWARE = ("python", "requirement ")
_OF_ENVIRONMENT = (*_SOFTWARE, _VARIABLE)
_Described = tuple[str, int, Conditions]
"""Commit of a run, when it began, and its conditions."""


def _changes(
    machine: str, environment: str, runs: Iterable[tuple[str, Mapping[str, str]]]
) -> Iterator[Event]:
    """Compare the facts of commits in their order; a fact that one does not record is unknown."""
    known: dict[str, str] = {}
    for commit, facts in runs:
        for fact, value in facts.items():
            if known.get(fact, value) != value:
                yield Event(machine, environment, commit, fact, known[fact], value)
        known |= facts


def _recipe_changes(history: History, series: Series) -> Iterator[Event]:
    valued = series.valued
    changed = [row for row, (a, b) in enumerate(pairwise(valued.runs), 1) if a.recipe != b.recipe]
    runs = (
        (history.commits[valued.indices[row]].hash, recipe_facts(valued.runs[row].recipe))
        for row in ([0, *changed] if changed else [])
    )
    for event in _changes(series.machine, series.environment, runs):
        yield msgspec.structs.replace(event, fact=f"recipe {event.fact}")


def _environments_of(runs: Sequence[_Described]) -> list[tuple[str, dict[str, str]]]:
    """Return the facts that runs in one environment recorded, with a value for each variable.

    A run lists all variables that are set, so a variable that only other runs list was not set:
    its value is empty. It lists only some packages, so one that it does not list may be installed.
    """
    unset = {fact: "" for *_, run in runs for fact in run.facts if fact.startswith(_VARIABLE)}
    return [
        # A run that could not ask its environment does not know the interpreter either.
        (commit, (unset if "interpreter" in run.facts else {}) | run.facts)
        for commit, _, run in runs
    ]


def find_events(history: History) -> tuple[Event, ...]:
    """List the events of all machines, oldest commit first.

    Facts are compared from one measured commit to the next: those of a machine over
    all of its commits, those of an environment over its own. The facts of a machine's first commit
    are no events. The records of runs are compared from one recorded run to the next.
    """
    order = history.order
    events: list[Event] = []
    facts_by_machine: dict[str, dict[str, dict[str, str]]] = defaultdict(dict)
    first_commits: dict[str, list[tuple[str, str]]] = defaultdict(list)
    runs_by_machine: dict[str, list[_Described]] = defaultdict(list)
    for (machine, environment), setup in history.setups.items():
        facts = {commit: measured.facts for commit, measured in setup.items()}
        first_commits[machine].append((next(iter(facts)), environment))
        facts_by_machine[machine] = facts | facts_by_machine[machine]
        changes = _changes(machine, environment, facts.items())
        events += (event for event in changes if event.fact.startswith(_OF_ENVIRONMENT))
        runs = [(commit, *run) for commit, each in setup.items() for run in each.conditions]
        runs_by_machine[machine] += runs
        events += _changes(machine, environment, _environments_of(runs))
    for machine, commits in facts_by_machine.items():
        in_order = sorted(commits.items(), key=lambda item: order[item[0]])
        changes = _changes(machine, "", in_order)
        events += (event for event in changes if not event.fact.startswith(_OF_ENVIRONMENT))
        events += (
            Event(machine, environment, commit, "environment", "", environment)
            for commit, environment in first_commits[machine]
            if commit != in_order[0][0]
        )
        runs = sorted(runs_by_machine[machine], key=lambda run: (order[run[0]], run[1]))
        events += _changes(machine, "", ((commit, run.machine) for commit, _, run in runs))
    for series in history.series:
        events += _recipe_changes(history, series)
    # Without repeats: conditions have asv's facts too, and many benchmarks change recipe at once.
    return tuple(sorted(dict.fromkeys(events), key=lambda event: order[event.commit]))


_CONDITIONS_OF_ENVIRONMENT = (_VARIABLE, "threads", PROCESSES)
_FEWEST_DIFFERENCES = 7
_THIRD_QUARTILE = 1.1503 * math.sqrt(2)
"""Of the sizes of differences of two normal values, in standard deviations of one of them."""


def split(history: History) -> tuple[tuple[Series, ...], ...]:
    """Split every series into segments, oldest first: consecutive values, at least one each."""
    setups = {series.setup for series in history.series}
    changes = {setup: _condition_changes(history, setup) for setup in setups}
    segments: list[tuple[Series, ...]] = []
    for series in history.series:
        valued = series.valued
        recipes = {history.order[change.commit] for change in _recipe_changes(history, series)}
        changed = sorted(recipes | changes[series.setup])
        starts = np.searchsorted(valued.indices, changed)
        parts = np.split(np.arange(len(valued.runs)), starts)
        segments.append(tuple(valued.part(rows) for rows in parts if len(rows)))
    return tuple(segments)


def _condition_changes(history: History, setup: tuple[str, str]) -> set[int]:
    """Return the indices of the commits at which the conditions of a setup change.

    If a commit has several runs, the conditions of the last one count.
    """
    measured = history.setups.get(setup, {})
    runs = [(commit, *each.conditions[-1]) for commit, each in measured.items() if each.conditions]
    stored = _changes(*setup, ((commit, each.facts) for commit, each in measured.items()))
    of_machine = _changes(*setup, ((commit, run.machine) for commit, _, run in runs))
    of_environment = _changes(*setup, _environments_of(runs))
    changes = [
        *(change for change in stored if not change.fact.startswith(_SOFTWARE)),
        *of_machine,
        *(c for c in of_environment if c.fact.startswith(_CONDITIONS_OF_ENVIRONMENT)),
    ]
    return {history.order[change.commit] for change in changes}


def noise_between_runs(segments: Sequence[Series]) -> float | None:
    """Estimate how much the values of a series differ from one run to the next.

    It comes from the third quartile of the differences of neighbouring logarithms, which a few
    steps and spikes do not move. The samples of one run lie closer together: the next run is
    another process on another day, with another layout of memory and another load of the machine.

    Returns:
        The standard deviation of the logarithm of a value (0.01 is 1 %); ``None`` with fewer than
        seven differences, or a value that is not positive.
    """
    parts = [segment.values for segment in segments]
    if not all((values > 0).all() for values in parts):
        return None
    sizes = [float(size) for values in parts for size in np.abs(np.diff(np.log(values)))]
    if len(sizes) < _FEWEST_DIFFERENCES:
        return None
    return sorted(sizes)[3 * len(sizes) // 4] / _THIRD_QUARTILE
