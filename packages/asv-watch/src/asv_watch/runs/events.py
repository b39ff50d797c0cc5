"""Events: changes of a machine, an environment or the recipe of measuring."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar

import msgspec
import numpy as np

from asv_watch.records.history import History, RunColumns
from asv_watch.records.records import Record, recipe_facts

Key = TypeVar("Key")


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


class FactChange(NamedTuple, Generic[Key]):
    """A fact whose value differs from the last run that recorded it."""

    run: Key
    fact: str
    before: str
    after: str


_VARIABLE = "variable "
_OF_ENVIRONMENT = ("python", "requirement ", _VARIABLE)


def recorded_changes(runs: Iterable[tuple[Key, Mapping[str, str]]]) -> Iterator[FactChange[Key]]:
    """Compare the facts of runs in their order; a fact that a run does not record is unknown.

    Args:
        runs: An identifier of each run, such as its commit, and the facts that it recorded.
    """
    known: dict[str, str] = {}
    for run, facts in runs:
        for fact, value in facts.items():
            if known.get(fact, value) != value:
                yield FactChange(run, fact, known[fact], value)
        known |= facts


def recipe_changes(columns: RunColumns) -> Iterator[FactChange[int]]:
    """Return the changes of the recipe of a series, by index of the row."""
    changed = (np.flatnonzero(np.diff(columns.recipes)) + 1).tolist()
    return recorded_changes(
        (row, recipe_facts(columns.stored[row].recipe))
        for row in ([0, *changed] if changed else [])
    )


def environments_of(runs: Sequence[tuple[str, Record]]) -> list[tuple[str, dict[str, str]]]:
    """Return the facts that runs in one environment recorded, with a value for each variable.

    A run lists all variables that are set, so a variable that only other runs list was not set:
    its value is empty. It lists only some packages, so one that it does not list may be installed.

    Args:
        runs: Commit and record of each, in their order.
    """
    unset = {
        fact: "" for _, record in runs for fact in record.environment if fact.startswith(_VARIABLE)
    }
    return [
        # A run that could not ask its environment does not know the interpreter either.
        (commit, (unset if "interpreter" in record.environment else {}) | record.environment)
        for commit, record in runs
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
    for (machine, environment), facts in history.facts.items():
        first_commits[machine].append((next(iter(facts)), environment))
        facts_by_machine[machine] = facts | facts_by_machine[machine]
        events += (
            Event(machine, environment, *change)
            for change in recorded_changes(facts.items())
            if change.fact.startswith(_OF_ENVIRONMENT)
        )
    for machine, commits in facts_by_machine.items():
        in_order = sorted(commits, key=order.__getitem__)
        events += (
            Event(machine, "", *change)
            for change in recorded_changes((commit, commits[commit]) for commit in in_order)
            if not change.fact.startswith(_OF_ENVIRONMENT)
        )
        events += (
            Event(machine, environment, commit, "environment", "", environment)
            for commit, environment in first_commits[machine]
            if commit != in_order[0]
        )
    records_by_machine: dict[str, list[tuple[str, Record]]] = defaultdict(list)
    for (machine, environment), recorded in history.recorded.items():
        runs = [(commit, record) for commit, records in recorded.items() for record in records]
        records_by_machine[machine] += runs
        changes = recorded_changes(environments_of(runs))
        events += (Event(machine, environment, *change) for change in changes)
    for machine, runs in records_by_machine.items():
        runs.sort(key=lambda run: (order[run[0]], run[1].at))
        changes = recorded_changes((commit, record.machine) for commit, record in runs)
        events += (Event(machine, "", *change) for change in changes)
    for series in history.series:
        columns = series.columns.valued
        for row, fact, before, after in recipe_changes(columns):
            commit, changed = columns.commits[columns.indices[row]], f"recipe {fact}"
            event = Event(series.machine, series.environment, commit, changed, before, after)
            events.append(event)
    # Without repeats: records have asv's facts too, and many benchmarks change recipe at once.
    return tuple(sorted(dict.fromkeys(events), key=lambda event: order[event.commit]))
