"""Writes histories as asv stores them, with known steps: for tests and measurements of scale.

A history is a git repository and a results folder in asv's own format, made from a ``Plan`` and
wholly determined by it: ``generate(Path("/tmp/history"), plan_of_size(1000, 200))``.
"""

import itertools
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from asv_watch.comparison import Comparison
from asv_watch.records.records import case_name
from tests.conftest import git
from tests.planted_comparisons import compared_commits, store
from tests.stored import store_run

FIRST_COMMIT_AT = 1_760_000_000
SECONDS_BETWEEN_COMMITS = 6 * 3600
TORCH_RATIO = 0.96
"""Figures of each torch pair over those of the one before it."""
STEP_SIZES = (1.10, 0.85, 1.20, 0.92)
HOSTILE = """</script><script>document.title='owned'</script>"'&<img src=x onerror=alert(1)>"""
TIME_SERIES = ("darnn", "dsanet", "lstnet", "tpa_lstm")
DEVICES = ("cpu", "cuda")
SMALL_CNNS = ("flux_cnn", "lenet5", "resnet18_mnist")


@dataclass(frozen=True)
class Suite:
    """A class of benchmarks: every function runs for every combination of parameters."""

    name: str
    functions: tuple[tuple[str, str, str], ...]
    """Function name, asv's type of it, unit."""
    params: dict[str, tuple[Any, ...]]


_PASSES = ("forward", "backward")
TIME_AND_MEMORY = (
    *((f"time_{name}", "time", "seconds") for name in _PASSES),
    *((f"peakmem_{name}", "peakmemory", "bytes") for name in _PASSES),
)
SUITES = (
    Suite(
        "time_series.TimeSeries",
        (
            *TIME_AND_MEMORY,
            ("track_instructions_forward", "track", "instructions"),
            ("track_throughput_forward", "track", "samples/s"),
        ),
        {"model": TIME_SERIES, "device": DEVICES},
    ),
    Suite("small_cnns.SmallCNNs", TIME_AND_MEMORY, {"model": SMALL_CNNS, "device": DEVICES}),
    Suite(
        "torchvision_models.TorchvisionModels",
        TIME_AND_MEMORY,
        {"model": ("resnet18", "vgg19"), "device": DEVICES, "batch": (5, 10)},
    ),
)


@dataclass(frozen=True)
class Plan:
    """What to write. Rates are shares of the results; sizes of steps are ratios."""

    commits: int = 60
    suites: tuple[Suite, ...] = SUITES
    machines: tuple[str, ...] = ("ci-2core", "gpu-lab")
    machines_with_cuda: tuple[str, ...] = ("gpu-lab",)
    machines_without_cpu: tuple[str, ...] = ()
    """Machines on which only the GPU was measured."""
    torch_pairs: tuple[tuple[str, str], ...] = (("2.14.1", "0.29.1"), ("2.15.0", "0.29.2"))
    steps: int = 4
    """Planted steps of the code: each moves every series of one model, from one commit on."""
    machine_steps: int = 0
    """Steps that every timing of the first machine shows, with an event of its facts."""
    spikes: float = 0.005
    failures: float = 0.004
    timeouts: float = 0.002
    never_run: float = 0.01
    unmeasured_commits: float = 0.1
    tag_every: int = 20
    hostile: bool = False
    """Add a benchmark, a model, a machine, commit subjects and reasons full of markup."""


class _Step(NamedTuple):
    """From which commit on the values of a model, or of a machine, have changed by what ratio."""

    commit: int
    ratio: float
    model: str = ""
    machine: str = ""


class Generated(NamedTuple):
    """Where a history was written, and the hashes of all and of measured commits, oldest first."""

    repository: Path
    results: Path
    hashes: tuple[str, ...]
    measured: tuple[str, ...]


ALL_OK: dict[str, Any] = {"failures": 0.0, "timeouts": 0.0, "never_run": 0.0}
"""Fields of a plan in which every case has a value wherever it can run."""


def small_plan(commits: int, **changes: Any) -> Plan:
    """A plan of one machine without a GPU that measured every commit with one torch pair."""
    one_of_each: dict[str, Any] = {
        "machines": ("ci-2core",),
        "machines_with_cuda": (),
        "torch_pairs": (("2.15.0", "0.29.2"),),
        "unmeasured_commits": 0.0,
    }
    return Plan(commits=commits, **(one_of_each | changes))


def plan_of_size(commits: int, series: int) -> Plan:
    """A plan with one machine, one torch pair and (to the next multiple of 8) so many series."""
    models = tuple(f"model_{number:03d}" for number in range(math.ceil(series / 8)))
    suite = Suite("scale.Scale", TIME_AND_MEMORY, {"model": models, "device": DEVICES})
    return small_plan(
        commits,
        suites=(suite,),
        machines_with_cuda=("ci-2core",),
        steps=max(1, len(models) // 5),
        tag_every=max(1, commits // 20),
    )


def generate(root: Path, plan: Plan) -> Generated:
    """Write ``root/repository`` and ``root/results`` after a plan."""
    rng = np.random.default_rng(0)
    plan = _with_hostile_names(plan) if plan.hostile else plan
    repository, results = root / "repository", root / "results"
    results.mkdir(parents=True)
    hashes = write_repository(repository, plan)
    kept = rng.random(plan.commits) >= plan.unmeasured_commits
    kept[[0, -1]] = True
    measured = [number for number in range(plan.commits) if kept[number]]
    steps = _plant(plan, rng, measured)
    write_json(results / "benchmarks.json", _benchmarks(plan), indent=4)
    for machine, (number, pair) in itertools.product(plan.machines, enumerate(plan.torch_pairs)):
        folder = _Folder(plan, machine, pair, TORCH_RATIO**number, hashes, steps)
        folder.store_runs(results, rng, measured)
        for comparisons in folder.comparisons(measured):
            store(results, comparisons)
        facts = {"machine": machine, "version": 1, **folder.facts(plan.commits)}
        write_json(results / machine / "machine.json", facts, indent=4)
    return Generated(repository, results, hashes, tuple(hashes[number] for number in measured))


def write_json(path: Path, content: Any, indent: int | None = None) -> None:
    """Write JSON as asv does, literal ``NaN`` included."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=indent, sort_keys=indent is not None))


def write_repository(repository: Path, plan: Plan) -> tuple[str, ...]:
    """Write a repository whose ``main`` has the plan's commits; return their hashes."""
    subjects = ("Fuse the gates of {}", "Document {}", "Test {} at the limit", "Tidy {}")
    stream = []
    for number in range(plan.commits):
        subject = subjects[number % 4].format(TIME_SERIES[number % 3])
        if plan.hostile and number % 5 == 0:
            subject = f"{HOSTILE} {number}"
        message = f"{subject}\n\nThe reason, at length.\n".encode()
        when = FIRST_COMMIT_AT + number * SECONDS_BETWEEN_COMMITS
        stream.append(
            b"commit refs/heads/main\nmark :%d\n"
            b"committer A Person <person@example.org> %d +0000\ndata %d\n%b\n"
            b"M 100644 inline number.txt\ndata %d\n%d\n"
            % (number + 1, when, len(message), message, len(str(number)), number)
        )
        if plan.tag_every and number % plan.tag_every == 0:
            minor = number // plan.tag_every
            stream.append(b"reset refs/tags/v0.%d.0\nfrom :%d\n\n" % (minor, number + 1))
    git(repository.parent, "init", "--quiet", "--initial-branch=main", repository.name)
    git(repository, "fast-import", "--quiet", input=b"".join(stream).decode())
    git(repository, "reset", "--quiet", "--hard")
    return tuple(git(repository, "rev-list", "--reverse", "main").split())


def _with_hostile_names(plan: Plan) -> Plan:
    hostile = Suite(
        "hostile.Suite",
        ((f"time_{HOSTILE}", "time", "seconds"), ("track_y", "track", HOSTILE)),
        {"model": (HOSTILE, "darnn"), "device": ("cpu",)},
    )
    machine = HOSTILE.replace("/", "|")  # a folder's name cannot hold a slash
    machines = (*plan.machines, machine)
    return replace(plan, suites=(*plan.suites, hostile), machines=machines)


def _plant(plan: Plan, rng: np.random.Generator, measured: list[int]) -> list[_Step]:
    models = [str(model) for suite in plan.suites for model in suite.params.get("model", ())]
    places = measured[5:-5]
    if not places:
        return []
    ratios = itertools.islice(itertools.cycle(STEP_SIZES), plan.steps)
    steps = [
        _Step(int(rng.choice(places)), ratio, model=model)
        for ratio, model in zip(ratios, itertools.cycle(models), strict=False)
    ]
    moved = rng.choice(places, plan.machine_steps).tolist()
    return steps + [_Step(commit, 1.08, machine=plan.machines[0]) for commit in moved]


def _benchmarks(plan: Plan) -> dict[str, Any]:
    content: dict[str, Any] = {"version": 2}
    for suite in plan.suites:
        for function, kind, unit in suite.functions:
            name = f"{suite.name}.{function}"
            content[name] = {
                "code": f"class Suite:\n    def {function}(self): ...",
                "name": name,
                "param_names": list(suite.params),
                "params": [list(map(repr, values)) for values in suite.params.values()],
                "timeout": 600.0,
                "type": kind,
                "unit": unit,
                "version": f"version-of-{function}",
            }
    return content


def _cases(suite: Suite) -> list[dict[str, Any]]:
    """The parameters of each case of a function."""
    combinations = itertools.product(*suite.params.values())
    return [dict(zip(suite.params, values, strict=True)) for values in combinations]


def _name(suite: Suite, function: str, case: dict[str, Any]) -> str:
    return case_name(f"{suite.name}.{function}", [repr(value) for value in case.values()])


@dataclass(frozen=True)
class _Folder:
    """What one machine stored with one torch pair."""

    plan: Plan
    machine: str
    pair: tuple[str, str]
    ratio: float
    hashes: tuple[str, ...]
    steps: list[_Step]

    def facts(self, commit: int) -> dict[str, str]:
        """The machine's facts when a commit was measured; its kernel changes at its steps."""
        passed = (step for step in self.steps if step.commit <= commit)
        kernel = sum(step.machine == self.machine for step in passed)
        return {
            "arch": "x86_64",
            "cpu": "Imaginary CPU @ 3.00GHz",
            "num_cpu": "2",
            "os": f"Linux 6.{kernel}",
            "ram": "25165824",
        }

    def comparisons(self, measured: list[int]) -> Iterator[list[Comparison]]:
        """What a night compares at a planted step of the code: the commits on both sides."""
        devices = {None, "cpu", "cuda" if self.machine in self.plan.machines_with_cuda else "cpu"}
        for step in self.steps:
            names = [
                _name(suite, function, case)
                for suite in self.plan.suites
                for function, kind, _ in suite.functions
                for case in _cases(suite)
                if kind == "time"
                and step.model == str(case.get("model"))
                and case.get("device") in devices
            ]
            if names:
                before = measured[measured.index(step.commit) - 1]
                yield compared_commits(
                    (self.hashes[before], self.hashes[step.commit]),
                    dict.fromkeys(names, step.ratio),
                    at=FIRST_COMMIT_AT + step.commit * SECONDS_BETWEEN_COMMITS + 7200,
                    machine=self.machine,
                    torch=self.pair[0],
                )

    def store_runs(self, results: Path, rng: np.random.Generator, measured: list[int]) -> None:
        """Store each measured commit: asv's file, and what the record says beside it."""
        functions = [
            (suite, function, self._series(rng, suite, kind, measured))
            for suite in self.plan.suites
            for function, kind, _ in suite.functions
        ]
        requirements = dict(zip(("torch", "torchvision"), self.pair, strict=True))
        joined = "-".join(f"{name}{version}" for name, version in requirements.items())
        environment = f"virtualenv-py3.11-{joined}-OMP_NUM_THREADS1"
        for index, commit in enumerate(measured):
            date = FIRST_COMMIT_AT + commit * SECONDS_BETWEEN_COMMITS
            rows: dict[str, Any] = {}
            reasons: list[Comparison] = []
            for suite, function, series in functions:
                values, missing = self._values(suite, function, series[:, index], date)
                params = [list(map(repr, each)) for each in suite.params.values()]
                version, started_at = f"version-of-{function}", (date + 3600) * 1000
                rows[f"{suite.name}.{function}"] = [values, params, version, started_at, 12.5]
                reasons += missing
            facts = {"machine": self.machine, "python": "3.11", **self.facts(commit)}
            content = {
                "commit_hash": self.hashes[commit],
                "env_name": environment,
                "date": date * 1000,
                "params": {**facts, **requirements},
                "python": "3.11",
                "requirements": requirements,
                "env_vars": {"OMP_NUM_THREADS": "1"},
                "result_columns": ["result", "params", "version", "started_at", "duration"],
                "results": rows,
                "durations": {},
                "version": 2,
            }
            name = f"{self.hashes[commit][:8]}-{environment}.json"
            write_json(results / self.machine / name, content)
            is_last = commit == len(self.hashes) - 1
            if reasons or is_last:
                store_run(
                    results,
                    *(reasons or [Comparison("s.time_gone", date + 3600)]),
                    commit=self.hashes[commit],
                    of_machine=self.machine,
                    environment=environment,
                    at=date + 3600,
                    requirements=requirements,
                    **(self._conditions() if is_last else {}),
                )

    def _conditions(self) -> dict[str, Any]:
        """Where the newest commit was measured."""
        return {
            "machine": {"kernel": "6.1.0-28-amd64", "governor": "performance", "swap": HOSTILE},
            "facts": {"torch build": f"{self.pair[0]}+cpu", "threads": "1 within operators"},
            "before": {"load_1_5_15_min": [0.1, 0.2, 0.3]},
        }

    def _series(
        self, rng: np.random.Generator, suite: Suite, kind: str, measured: list[int]
    ) -> np.ndarray:
        """Figures of a function: (cases, measured commits); NaN is never run.

        Others without a value are keys of `_OUTCOMES`.
        """
        plan, cases = self.plan, _cases(suite)
        shape = len(cases), len(measured)
        noise = 0.0005 if kind == "peakmemory" else 0.01
        levels = {"time": 2e-3, "peakmemory": 5e8, "track": 1e6}[kind]
        level = levels * self.ratio * 10 ** rng.uniform(-0.5, 0.5, (shape[0], 1))
        matrix = level * rng.lognormal(0.0, noise, shape)
        matrix *= np.where(rng.random(shape) < plan.spikes, rng.uniform(1.3, 3.0, shape), 1.0)
        for step, (row, case) in itertools.product(self.steps, enumerate(cases)):
            of_model = step.model == str(case.get("model"))
            if of_model or (step.machine == self.machine and kind == "time"):
                matrix[row, np.array(measured) >= step.commit] *= step.ratio
        if kind != "time":
            matrix = np.round(matrix)
        chance = rng.random(shape)
        matrix[chance < plan.failures] = -math.inf
        matrix[(chance >= 0.3) & (chance < 0.3 + plan.timeouts)] = -1.0
        matrix[(chance >= 0.6) & (chance < 0.6 + plan.never_run)] = math.nan
        for row, case in enumerate(cases):
            if case.get("device") == "cuda" and self.machine not in plan.machines_with_cuda:
                matrix[row] = math.inf
            if case.get("device") == "cpu" and self.machine in plan.machines_without_cpu:
                matrix[row] = math.nan
        return matrix

    def _values(
        self, suite: Suite, function: str, figures: np.ndarray, date: int
    ) -> tuple[list[float | None], list[Comparison]]:
        """Values of a function's cases as asv stores them, and why some have none."""
        values: list[float | None] = []
        missing: list[Comparison] = []
        for figure, case in zip(figures.tolist(), _cases(suite), strict=True):
            stored, outcome = _OUTCOMES.get(figure, (figure, {}))
            values.append(stored)
            if self.plan.hostile and figure == -math.inf:
                outcome = {"failed": {0: HOSTILE}}
            if outcome:
                missing.append(Comparison(_name(suite, function, case), date + 3660, **outcome))
        return values, missing


_OUTCOMES: dict[float, tuple[float | None, dict[str, Any]]] = {
    math.inf: (math.nan, {"skipped": {0: "no GPU on this machine"}}),
    -math.inf: (None, {"failed": {0: "RuntimeError: the input has 3 features, the model 4"}}),
    -1.0: (None, {"failed": {0: "stopped after 600 s"}, "late": (0,)}),
}
