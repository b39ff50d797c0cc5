"""A small history written by hand: every outcome, both directions, text that bites."""

from __future__ import annotations

import itertools
import math
import random

from asv_watch.judge.changes import Change, State
from asv_watch.judge.events import Event
from asv_watch.judge.findings import Findings
from asv_watch.judge.segments import split
from asv_watch.records.history import History
from asv_watch.records.labels import case_labels
from asv_watch.records.records import (
    Benchmark,
    Case,
    Commit,
    Environment,
    Machine,
    Outcome,
    Point,
    Run,
)
from asv_watch.records.series import RunColumns, Series
from asv_watch.site.contents import (
    Contents,
    contents_of,
    series_order,
)

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)>&'\"\u2028=1+1"
PROJECT = {"name": "torchspeed", "url": "https://example.org/", "commit_url": "", "site": ""}

_SECONDS = {
    "darnn": 5.6e-3,
    "dsanet": 19.5e-3,
    "lstnet": 45.8e-3,
    "tpa_lstm": 61.8e-3,
    "vgg19": 0.9,
}
_FUNCTIONS = (
    ("time_forward", "time", "seconds"),
    ("time_backward", "time", "seconds"),
    ("peakmem_forward", "peakmemory", "bytes"),
    ("track_throughput_forward", "track", "samples/s"),
)
_STEP_AT, _COMMITS = 42, 60


def handmade() -> tuple[History, Findings]:
    """Two environments of one machine, sixty commits, one step, every outcome."""
    noise = random.Random(7)  # noqa: S311
    commits = tuple(
        Commit(
            f"{index:040x}"[::-1],
            1_755_000_000 + index * 86_400,
            HOSTILE if index == 50 else f"Change number {index}",
            ("v0.1",) if index == 20 else (),
            index,
        )
        for index in range(_COMMITS)
    )
    environments = {
        f"virtualenv-py3.11-torch{torch}": Environment(
            f"virtualenv-py3.11-torch{torch}",
            "3.11",
            {"torch": torch, "torchvision": vision},
            {"OMP_NUM_THREADS": "1"},
        )
        for torch, vision in (("2.14.1", "0.29.1"), ("2.15.0", "0.29.2"))
    }
    params = (tuple(map(repr, _SECONDS)), ("'cpu'", "'cuda'"))
    benchmarks = {
        f"time_series.TimeSeries.{function}": Benchmark(
            f"time_series.TimeSeries.{function}",
            kind,
            unit,
            ("model", "device"),
            params,
            higher_is_better=kind == "track",
        )
        for function, kind, unit in _FUNCTIONS
    }
    series = []
    for benchmark, environment, model, device in itertools.product(
        benchmarks.values(), environments, _SECONDS, ("cpu", "cuda")
    ):
        named = (repr(model), repr(device))
        level = {"time": 1.0, "peakmemory": 1e9, "track": 10.0}[benchmark.type] * _SECONDS[model]
        level *= 0.95 if "2.15" in environment else 1
        runs = _runs(commits, (model, device, benchmark.type), level, noise)
        series.append(
            Series(
                "ci-2core",
                environment,
                Case(benchmark.name, named, case_labels(benchmark, named)),
                benchmark.unit,
                benchmark.higher_is_better,
                RunColumns.of(runs),
            )
        )
    history = History(
        commits,
        {"ci-2core": Machine("ci-2core", {"cpu": "Some CPU <b>", "num_cpu": "2", "ram": "24 GB"})},
        environments,
        benchmarks,
        tuple(sorted(series, key=series_order)),
    )
    return history, _findings(history)


def handmade_contents() -> Contents:
    """Where the series of the hand-made history stand."""
    return contents_of(*handmade())


def _runs(
    commits: tuple[Commit, ...], what: tuple[str, str, str], level: float, noise: random.Random
) -> dict[str, Run]:
    """Runs of a model, a device and a kind of measurement."""
    model, device, kind = what
    runs = {}
    for index, commit in enumerate(commits):
        if index % 7 == 3 or (model == "tpa_lstm" and index > 55):
            continue
        if device == "cuda":
            run = Run(Outcome.SKIPPED, reason="this machine has no CUDA device")
        elif model == "lstnet" and index >= 57:
            run = Run(Outcome.FAILED, reason=f"RuntimeError: expected <Tensor> {HOSTILE}")
        elif model == "vgg19" and index >= 58:
            run = Run(Outcome.TIMED_OUT, reason="stopped after 60 s")
        else:
            value = level * math.exp(noise.gauss(0, 0.01))
            if index >= _STEP_AT:
                value *= {("darnn", "time"): 0.9, ("dsanet", "track"): 0.8}.get((model, kind), 1)
            interval, quartiles = (
                (value * low, value * high) for low, high in ((0.99, 1.012), (0.995, 1.006))
            )
            run = Run(Outcome.OK, Point(value, interval, quartiles))
        runs[commit.hash] = run
    return runs


def _findings(history: History) -> Findings:
    noise = []
    changes = []
    for index, entry in enumerate(history.series):
        values = [run.point.value for run in entry.runs.values() if run.point]
        noise.append(0.01 if values else None)
        if values and entry.case.labels["model"] == "darnn" and entry.unit == "seconds":
            before, after = values[0], values[-1]
            ratio = after / before
            changes.append(
                Change(
                    series=index,
                    previous=_STEP_AT - 1,
                    commit=_STEP_AT,
                    state=State.MEASURED,
                    kind="time",
                    verdict="better",
                    ratio=ratio,
                    values=(before, after),
                    interval=(ratio / 1.01, ratio * 1.01),
                )
            )
    before_event, event = history.commits[29].hash, history.commits[30].hash
    return Findings(
        segments=split(history),
        noise=tuple(noise),
        changes=tuple(changes),
        events=(Event("ci-2core", "", before_event, event, "os", "Linux 6.1.0", "Linux 6.1.9"),),
    )
