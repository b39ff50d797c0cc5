"""A small history written by hand: every outcome, both directions, text that bites."""

from __future__ import annotations

import math
import random
import sys
import time
from pathlib import Path

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
from asv_watch.records.run_columns import RunColumns
from asv_watch.records.series import Series
from asv_watch.site.build import build_site
from asv_watch.site.contents import (
    Contents,
    contents_of,
    series_order,
)
from torchspeed.published.values import site_rows

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)>&'\"\u2028=1+1"
PROJECT = {"name": "torchspeed", "url": "https://example.org/", "commit_url": "", "site": ""}

_MODELS = {"darnn": 5.6e-3, "dsanet": 19.5e-3, "lstnet": 45.8e-3, "tpa_lstm": 61.8e-3}
_VISION = {"resnet18": 0.09, "vgg19": 0.9}
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
            **({"position": index} if "position" in Commit.__slots__ else {}),
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
    benchmarks = {}
    series = []
    for suite, models, batches in (
        ("time_series.TimeSeries", _MODELS, ("",)),
        ("torchvision_models.TorchvisionModels", _VISION, ("5", "10")),
    ):
        for function, kind, unit, higher in (
            ("time_forward", "time", "seconds", False),
            ("time_backward", "time", "seconds", False),
            ("peakmem_forward", "peakmemory", "bytes", False),
            ("track_throughput_forward", "track", "samples/s", True),
        ):
            name = f"{suite}.{function}"
            parameters = ("model", "device", *(("batch",) if batches[0] else ()))
            values = (tuple(map(repr, models)), ("'cpu'", "'cuda'"))
            benchmarks[name] = Benchmark(
                name,
                kind,
                unit,
                parameters,
                (*values, batches) if batches[0] else values,
                higher_is_better=higher,
            )
            direction = "backward" if "backward" in name else "forward"
            for environment in environments:
                for model, seconds in models.items():
                    for device in ("cpu", "cuda"):
                        for batch in batches:
                            params = (repr(model), repr(device), *([batch] if batch else []))
                            case = Case(name, params, case_labels(benchmarks[name], params))
                            level = seconds * int(batch or 5) / 5
                            level *= 2.1 if direction == "backward" else 1
                            level *= 0.95 if "2.15" in environment else 1
                            if kind == "peakmemory":
                                level = 5e8 + 1e9 * seconds
                            elif kind == "track":
                                level = 100 / level
                            runs = _runs(
                                commits,
                                model=model,
                                device=device,
                                level=level,
                                kind=kind,
                                noise=noise,
                            )
                            series.append(
                                Series(
                                    "ci-2core",
                                    environment,
                                    case,
                                    unit,
                                    higher,
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
    commits: tuple[Commit, ...],
    *,
    model: str,
    device: str,
    level: float,
    kind: str,
    noise: random.Random,
) -> dict[str, Run]:
    runs = {}
    for index, commit in enumerate(commits):
        if index % 7 == 3 or (model == "tpa_lstm" and index > 55):
            continue
        if device == "cuda":
            runs[commit.hash] = Run(Outcome.SKIPPED, reason="this machine has no CUDA device")
        elif model == "lstnet" and index >= 57:
            runs[commit.hash] = Run(
                Outcome.FAILED, reason=f"RuntimeError: expected <Tensor> {HOSTILE}"
            )
        elif model == "vgg19" and index >= 58:
            runs[commit.hash] = Run(Outcome.TIMED_OUT, reason="stopped after 60 s")
        else:
            value = level * math.exp(noise.gauss(0, 0.01))
            if model == "darnn" and kind == "time" and index >= _STEP_AT:
                value *= 0.9
            if model == "dsanet" and kind == "track" and index >= _STEP_AT:
                value *= 0.8
            runs[commit.hash] = Run(
                Outcome.OK,
                Point(value, (value * 0.99, value * 1.012), (value * 0.995, value * 1.006)),
            )
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


if __name__ == "__main__":
    build_site(
        Path(sys.argv[1]),
        handmade_contents(),
        generated=int(time.time()),
        project=PROJECT,
        published=tuple(site_rows()),
    )
