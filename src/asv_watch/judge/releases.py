"""Torch releases compared by separate runs, on one machine and at one commit.

Both values of a comparison come from the same commit of the package, so that a change of its code
is never taken for one of torch, and `asv_watch.statistics.rule` decides. It says nothing
where the noise between runs is not known. `asv_watch.judge.release_history` has those
that were compared interleaved.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from asv_watch.records.history import History
from asv_watch.records.records import Case, Environment
from asv_watch.records.release_order import release_order
from asv_watch.statistics.rule import Judgement, Measurement, judge


@dataclass(frozen=True, slots=True)
class Releases:
    """The torch releases that a machine measured at one commit."""

    machine: str
    commit: str
    """Hash of the newest commit that most of the releases measured."""
    environments: tuple[str, ...]
    """Names of the environments that did, the oldest release first; two at least."""
    newest: tuple[tuple[Case, str, Judgement], ...]
    """The newest two compared: case, unit and judgement of each case that both have a value of."""


def compare_releases(history: History, noise: Sequence[float | None]) -> tuple[Releases, ...]:
    """Compare the newest two torch releases of each machine that measured several at one commit.

    Args:
        history: The history.
        noise: Noise between runs of each of its series (`noise.known_noise`).

    Returns:
        The releases of each such machine, by its name.
    """
    indices: dict[tuple[str, str], dict[Case, int]] = {}
    for index, series in enumerate(history.series):
        indices.setdefault((series.machine, series.environment), {})[series.case] = index
    compared = []
    for machine in sorted(history.machines):
        names = _environments(history, machine, indices)
        if len(names) < 2:
            continue
        measured = {name: _measured(history, indices[machine, name].values()) for name in names}
        commit = _common_commit(history, measured)
        if commit is None:
            continue
        environments = [name for name, commits in measured.items() if commit in commits]
        before, after = (indices[machine, name] for name in environments[-2:])
        judgements = [
            (case, _compare(history, noise, (before[case], after[case]), commit))
            for case in before
            if case in after
        ]
        newest = tuple(
            (case, history.series[before[case]].unit, judgement)
            for case, judgement in judgements
            if judgement is not None
        )
        compared.append(Releases(machine, commit, tuple(environments), newest))
    return tuple(compared)


def _measured(history: History, series: Iterable[int]) -> set[str]:
    """Return the hashes of the commits at which any of some series has a value."""
    columns = [history.series[index].columns.valued for index in series]
    return {history.commits[place].hash for of in columns for place in history.indices(of)}


def _environments(
    history: History, machine: str, indices: Mapping[tuple[str, str], object]
) -> list[str]:
    """Return the environments of a machine, one for each torch release, the oldest release first.

    Of several environments with one release it is the one that measured the newest commit.
    """
    order = history.order

    def newest(environment: Environment) -> int:
        facts = history.facts.get((machine, environment.name), {})
        return max((order.get(commit, -1) for commit in facts), default=-1)

    of_release: dict[str, Environment] = {}
    for environment in history.environments.values():
        if environment.torch and (machine, environment.name) in indices:
            other = of_release.setdefault(environment.torch, environment)
            if newest(environment) > newest(other):
                of_release[environment.torch] = environment
    return [of_release[torch].name for torch in sorted(of_release, key=release_order)]


def _common_commit(history: History, measured: Mapping[str, set[str]]) -> str | None:
    """Return the newest of the commits that the most environments, two at least, measured."""
    counts = Counter(commit for commits in measured.values() for commit in commits)
    most = max(counts.values(), default=0)
    if most < 2:
        return None
    return next(c.hash for c in reversed(history.commits) if counts[c.hash] == most)


def _compare(
    history: History, noise: Sequence[float | None], indices: tuple[int, int], commit: str
) -> Judgement | None:
    """Judge two series at one commit; ``None`` where one has no value there."""
    measurements = []
    for index in indices:
        run = history.series[index].columns.run_at(commit)
        if run.point is None:
            return None
        measurements.append(
            Measurement(run.point.value, run.point.interval, noise[index], run.recipe)
        )
    higher_is_better = history.series[indices[0]].higher_is_better
    return judge(*measurements, higher_is_better=higher_is_better)
