"""Events: changes of a machine, an environment or the recipe of measuring."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from asv_watch.records.history import History
from asv_watch.records.records import Record, differing_facts


@dataclass(frozen=True, slots=True)
class Event:
    """A fact about a machine, an environment or a recipe that differs from the commit before."""

    machine: str
    environment: str
    """Empty for a fact of the machine, which concerns all of its environments."""
    previous: str
    """Last measured commit with the old fact; empty for an environment's first commit. The same
    as ``commit`` where it changed between two runs of one commit."""
    commit: str
    """First measured commit with the new one."""
    fact: str
    """Name of the fact: ``kernel``, ``python``, ``variable OMP_NUM_THREADS``; ``environment`` for
    an environment that this machine had not measured with before; ``recipe rounds`` and the like
    for how samples are taken, ``recipe asv_runner`` for what takes them."""
    before: str
    """Old value, empty where there was none."""
    after: str
    """New value, empty where there is none any more."""


_OF_ENVIRONMENT = ("python", "requirement ", "variable ")


def find_events(history: History) -> tuple[Event, ...]:
    """List the events of all machines, oldest commit first.

    Facts are compared from one measured commit to the next: those of a machine over
    all of its commits, those of an environment over its own. What a machine's first
    commit was measured with is no event. What runs recorded of where they ran is compared
    from one such run to the next: a commit without a record is passed over.
    """
    order = history.order
    events: list[Event] = []
    of_machine: dict[str, dict[str, dict[str, str]]] = {}
    first_commits: dict[str, list[tuple[str, str]]] = {}
    for (machine, environment), facts in history.facts.items():
        first_commits.setdefault(machine, []).append((next(iter(facts)), environment))
        commits = of_machine.setdefault(machine, {})
        for commit, all_facts in facts.items():
            commits.setdefault(commit, _part(all_facts, of_environment=False))
        own = {
            commit: _part(all_facts, of_environment=True) for commit, all_facts in facts.items()
        }
        events += _changes(machine, environment, list(own.items()))
    for machine, commits in of_machine.items():
        in_order = sorted(commits, key=order.__getitem__)
        events += _changes(machine, "", [(commit, commits[commit]) for commit in in_order])
        events += [
            Event(machine, environment, "", commit, "environment", "", environment)
            for commit, environment in first_commits[machine]
            if commit != in_order[0]
        ]
    events += _of_records(history, order)
    events += _of_recipes(history, order)
    # What asv stores of a machine is part of the record as well.
    return tuple(sorted(dict.fromkeys(events), key=lambda event: order[event.commit]))


def _of_records(history: History, order: dict[str, int]) -> Iterator[Event]:
    of_machine: dict[str, list[tuple[str, Record]]] = {}
    for (machine, environment), commits in history.recorded.items():
        runs = [(commit, record) for commit, records in commits.items() for record in records]
        of_machine.setdefault(machine, []).extend(runs)
        yield from _changes(
            machine, environment, [(commit, record.environment) for commit, record in runs]
        )
    for machine, runs in of_machine.items():
        runs.sort(key=lambda run: (order[run[0]], run[1].at))
        yield from _changes(machine, "", [(commit, record.machine) for commit, record in runs])


def _of_recipes(history: History, order: Mapping[str, int]) -> Iterator[Event]:
    """Changes of the recipe: one event a fact, however many benchmarks it concerns."""
    changes: dict[tuple[str, str, str, str, str, str], str] = {}
    for series in history.series:
        if len({run.recipe for run in series.columns.rows} - {""}) < 2:
            continue
        known, previous = "", ""
        for commit, run in series.runs.items():
            if run.point is None:
                continue
            differing = {} if run.recipe == known else differing_facts(known, run.recipe)
            for fact, (old, new) in differing.items():
                key = (series.machine, series.environment, commit, fact, old, new)
                changes[key] = max(previous, changes.get(key, previous), key=order.__getitem__)
            known, previous = run.recipe or known, commit
    for (machine, environment, commit, fact, old, new), previous in changes.items():
        yield Event(machine, environment, previous, commit, f"recipe {fact}", old, new)


def _part(facts: dict[str, str], of_environment: bool) -> dict[str, str]:
    return {
        fact: value
        for fact, value in facts.items()
        if fact.startswith(_OF_ENVIRONMENT) == of_environment
    }


def _changes(
    machine: str, environment: str, runs: list[tuple[str, dict[str, str]]]
) -> list[Event]:
    """Return what differs between the facts of each commit, or run of one, and the next."""
    return [
        Event(machine, environment, previous, commit, fact, old.get(fact, ""), new.get(fact, ""))
        for (previous, old), (commit, new) in pairwise(runs)
        if old != new
        for fact in sorted(old.keys() | new.keys())
        if old.get(fact, "") != new.get(fact, "")
    ]
