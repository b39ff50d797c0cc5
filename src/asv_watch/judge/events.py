"""Events: changes of a machine, an environment or the recipe of measuring."""

from __future__ import annotations

from collections.abc import Iterator
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
    commit: str
    """First measured commit with the new fact."""
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
            Event(machine, environment, commit, "environment", "", environment)
            for commit, environment in first_commits[machine]
            if commit != in_order[0]
        ]
    events += _of_records(history)
    events += _of_recipes(history)
    # Records repeat what asv stores of a machine, and many benchmarks change their recipe at once.
    return tuple(sorted(dict.fromkeys(events), key=lambda event: order[event.commit]))


def _of_records(history: History) -> Iterator[Event]:
    of_machine: dict[str, list[tuple[str, Record]]] = {}
    for (machine, environment), commits in history.recorded.items():
        runs = [(commit, record) for commit, records in commits.items() for record in records]
        of_machine.setdefault(machine, []).extend(runs)
        yield from _changes(
            machine, environment, [(commit, record.environment) for commit, record in runs]
        )
    for machine, runs in of_machine.items():
        runs.sort(key=lambda run: (history.order[run[0]], run[1].at))
        yield from _changes(machine, "", [(commit, record.machine) for commit, record in runs])


def _of_recipes(history: History) -> Iterator[Event]:
    for series in history.series:
        if len({run.recipe for run in series.columns.rows} - {""}) < 2:
            continue
        known = ""
        for commit, run in series.runs.items():
            if run.point is None or run.recipe in {"", known}:
                continue
            for fact, (old, new) in differing_facts(known, run.recipe).items():
                yield Event(series.machine, series.environment, commit, f"recipe {fact}", old, new)
            known = run.recipe


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
        Event(machine, environment, commit, fact, old.get(fact, ""), new.get(fact, ""))
        for (_, old), (commit, new) in pairwise(runs)
        if old != new
        for fact in sorted(old.keys() | new.keys())
        if old.get(fact, "") != new.get(fact, "")
    ]
