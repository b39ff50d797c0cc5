"""Small histories and settings made by hand: commits, series and values without files."""

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from asv_watch.asv.settings import Configuration, EnvironmentSpec
from asv_watch.comparison import Outcome, Run
from asv_watch.records.history import History, Series
from asv_watch.records.labels import Layout
from asv_watch.records.records import Benchmark, Case, Environment, Machine
from asv_watch.statistics.ratio import quantile
from asv_watch.versions.version import Commit

LAYOUT = Layout(
    rows="model",
    columns=("device", "pass"),
    words={"pass": ("forward", "backward")},
    in_words={"backward": "training pass", "darnn": "DA-RNN with attention"},
)
"""What a project that measures models declares of its tables."""
MACHINE = "ci-2core"
ENVIRONMENT = "torch2.15.0"


def commit_hash(number: int) -> str:
    return f"{number:08x}" * 5


def make_commits(count: int) -> tuple[Commit, ...]:
    return tuple(
        Commit(commit_hash(number), 1_760_000_000 + number, f"Commit {number}", (), number)
        for number in range(count)
    )


def make_configuration(
    folder: Path, *environments: EnvironmentSpec, **settings: Any
) -> Configuration:
    """Settings of a project in a folder whose other folders are where asv has them by default."""
    return Configuration(
        branch="main",
        suites=folder / "benchmarks",
        results=folder / "results",
        site=folder / "html",
        environments_folder=folder / ".asv/env",
        environments=environments,
        repository=folder,
        **settings,
    )


def run_of(value: float) -> Run:
    return Run(Outcome.OK, value)


def make_series(
    runs: Sequence[float | Run] | Mapping[int, float | Run], *, model: str = "darnn"
) -> Series:
    """A series of values or runs, by number of the commit."""
    numbered = runs if isinstance(runs, Mapping) else dict(enumerate(runs))
    made = [run if isinstance(run, Run) else run_of(run) for run in numbered.values()]
    ran = [index for index, run in enumerate(made) if run.outcome is not Outcome.NEVER_RUN]
    labels = {"model": model, "device": "cpu", "pass": "forward", "metric": "time"}
    return Series(
        machine=MACHINE,
        environment=ENVIRONMENT,
        case=Case("suite.Suite.time_forward", (repr(model), "'cpu'"), labels),
        unit="seconds",
        higher_is_better=False,
        commits=tuple(map(commit_hash, numbered)),
        indices=np.array(ran, np.intp),
        runs=[made[index] for index in ran],
    )


def make_rounds(ratio: float, half: float, count: int = 6) -> tuple[float, ...]:
    """Rounds, an even number, whose ratio is this, to half a width of the logarithm's interval."""
    spread = half * math.sqrt(count) / quantile(count - 1)
    distance = spread * math.sqrt((count - 1) / count)
    return tuple(ratio * math.exp(distance * (-1) ** number) for number in range(count))


def make_history(series: Iterable[Series], **changes: object) -> History:
    series = tuple(series)
    last = max((int(commit[:8], 16) for s in series for commit in s.commits), default=-1)
    arguments: dict[str, object] = {
        "commits": make_commits(last + 1),
        "machines": {s.machine: Machine(s.machine) for s in series},
        "environments": {
            s.environment: Environment(s.environment, "3.11", {"torch": "2.15.0"}) for s in series
        },
        "benchmarks": {
            s.case.benchmark: Benchmark(
                s.case.benchmark, "time", s.unit, ("model", "device"), tuple(zip(s.case.params))
            )
            for s in series
        },
        "series": series,
        "layout": LAYOUT,
        "positions": {commit_hash(number): number for number in range(last + 1)},
    }
    return History(**(arguments | changes))  # type: ignore[arg-type]
