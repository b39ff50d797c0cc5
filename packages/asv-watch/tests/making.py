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
    numbered = runs.items() if isinstance(runs, Mapping) else enumerate(runs)
    made = {n: run if isinstance(run, Run) else run_of(run) for n, run in numbered}
    ran = {n: run for n, run in made.items() if run.outcome is not Outcome.NEVER_RUN}
    labels = {"model": model, "device": "cpu", "pass": "forward", "metric": "time"}
    return Series(
        machine=MACHINE,
        environment=ENVIRONMENT,
        case=Case("suite.Suite.time_forward", (repr(model), "'cpu'"), labels),
        unit="seconds",
        higher_is_better=False,
        indices=np.array(list(ran), np.intp),
        runs=list(ran.values()),
    )


def make_rounds(ratio: float, half: float, count: int = 6) -> tuple[float, ...]:
    """Rounds, an even number, whose ratio is this, to half a width of the logarithm's interval."""
    spread = half * math.sqrt(count) / quantile(count - 1)
    distance = spread * math.sqrt((count - 1) / count)
    return tuple(ratio * math.exp(distance * (-1) ** number) for number in range(count))


def make_history(series: Iterable[Series], **changes: object) -> History:
    """A history of these series, of 40 commits at least."""
    series = tuple(series)
    commits = make_commits(max([40, *(int(s.indices.max(initial=0)) + 1 for s in series)]))
    arguments: dict[str, object] = {
        "commits": commits,
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
        "positions": {commit.hash: commit.position for commit in commits},
    }
    return History(**(arguments | changes))  # type: ignore[arg-type]
