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
from typing import Any

import numpy as np

from asv_watch.comparison import Comparison
from tests.conftest import git
from tests.planted_comparisons import compared_commits, store
from tests.stored import store_run

COLUMNS = [
    "result",
    "params",
    "version",
    "started_at",
    "duration",
    "stats_ci_99_a",
    "stats_ci_99_b",
    "stats_q_25",
    "stats_q_75",
    "stats_number",
    "stats_repeat",
    "samples",
    "profile",
]
FIRST_COMMIT_AT = 1_760_000_000
SECONDS_BETWEEN_COMMITS = 6 * 3600
TORCH_RATIO = 0.96
"""Figures of each torch pair over those of the one before it."""
STEP_SIZES = (1.10, 0.85, 1.20, 0.92)
HOSTILE = """</script><script>document.title='owned'</script>"'&<img src=x onerror=alert(1)>"""
TIME_SERIES = ("darnn", "dsanet", "lstnet", "tpa_lstm")
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
        {"model": TIME_SERIES, "device": ("cpu", "cuda")},
    ),
    Suite(
        "small_cnns.SmallCNNs",
        TIME_AND_MEMORY,
        {"model": SMALL_CNNS, "device": ("cpu", "cuda")},
    ),
    Suite(
        "torchvision_models.TorchvisionModels",
        TIME_AND_MEMORY,
        {"model": ("resnet18", "vgg19"), "device": ("cpu", "cuda"), "batch": (5, 10)},
    ),
)


@dataclass(frozen=True)
class Plan:
    """What to write. Rates are shares of the results; sizes of steps are ratios."""

    commits: int = 60
    seed: int = 0
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
    noise: float = 0.01
    """Coefficient of variation of one value around its level."""
    spikes: float = 0.005
    failures: float = 0.004
    timeouts: float = 0.002
    never_run: float = 0.01
    unmeasured_commits: float = 0.1
    tag_every: int = 20
    hostile: bool = False
    """Add a benchmark, a model, a machine, commit subjects and reasons full of markup."""


@dataclass(frozen=True)
class PlantedStep:
    """The truth: where the values of a model (or of a machine) changed, and by what ratio."""

    commit: int
    """Its number, from the oldest on."""
    ratio: float
    model: str = ""
    machine: str = ""


@dataclass(frozen=True)
class Generated:
    """Where a history was written, and what is true of it."""

    repository: Path
    results: Path
    hashes: tuple[str, ...]
    """Every commit of main, oldest first."""
    measured: tuple[str, ...]


ALL_OK: dict[str, Any] = {"failures": 0.0, "timeouts": 0.0, "never_run": 0.0}
"""Fields of a plan in which every case has a value wherever it can run."""


def small_plan(commits: int, **changes: Any) -> Plan:
    """A plan of one machine without a GPU that measured every commit with one torch pair."""
    one_of_each = Plan(
        commits=commits,
        machines=("ci-2core",),
        machines_with_cuda=(),
        torch_pairs=(("2.15.0", "0.29.2"),),
        unmeasured_commits=0.0,
    )
    return replace(one_of_each, **changes)


def plan_of_size(commits: int, series: int) -> Plan:
    """A plan with one machine, one torch pair and (to the next multiple of 8) so many series."""
    models = tuple(f"model_{number:03d}" for number in range(math.ceil(series / 8)))
    suite = Suite("scale.Scale", TIME_AND_MEMORY, {"model": models, "device": ("cpu", "cuda")})
    return small_plan(
        commits,
        suites=(suite,),
        machines_with_cuda=("ci-2core",),
        steps=max(1, len(models) // 5),
        tag_every=max(1, commits // 20),
    )


def generate(root: Path, plan: Plan) -> Generated:
    """Write ``root/repository`` and ``root/results`` after a plan."""
    rng = np.random.default_rng(plan.seed)
    plan = _with_hostile_names(plan) if plan.hostile else plan
    repository = root / "repository"
    results = root / "results"
    results.mkdir(parents=True)
    hashes = write_repository(repository, plan)
    kept = rng.random(plan.commits) >= plan.unmeasured_commits
    kept[[0, -1]] = True
    measured = [number for number in range(plan.commits) if kept[number]]
    steps = _plant(plan, rng, measured)
    write_json(results / "benchmarks.json", _benchmarks(plan), indent=4)
    for machine, (number, pair) in itertools.product(plan.machines, enumerate(plan.torch_pairs)):
        folder = _SeriesFolder(plan, machine, pair, TORCH_RATIO**number, hashes, steps)
        for name, content, record in folder.files(rng, measured):
            write_json(results / machine / name, content)
            folder.store(results, content, record, is_last=content["commit_hash"] == hashes[-1])
        for comparisons in folder.comparisons(measured):
            store(results, comparisons)
        facts = {"machine": machine, "version": 1, **folder.facts(plan.commits)}
        write_json(results / machine / "machine.json", facts, indent=4)
    return Generated(
        repository,
        results,
        hashes,
        tuple(hashes[number] for number in measured),
    )


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
    repository.mkdir(parents=True)
    git(repository, "init", "--quiet", "--initial-branch=main")
    marks = repository / ".git" / "marks"
    stdin = b"".join(stream).decode()
    git(repository, "fast-import", "--quiet", f"--export-marks={marks}", input=stdin)
    git(repository, "reset", "--quiet", "--hard")
    by_mark = dict(line.split() for line in marks.read_text().splitlines())
    marks.unlink()
    return tuple(by_mark[f":{number + 1}"] for number in range(plan.commits))


def _with_hostile_names(plan: Plan) -> Plan:
    hostile = Suite(
        "hostile.Suite",
        ((f"time_{HOSTILE}", "time", "seconds"), ("track_y", "track", HOSTILE)),
        {"model": (HOSTILE, "darnn"), "device": ("cpu",)},
    )
    # A folder's name cannot hold a slash.
    return replace(
        plan,
        suites=(*plan.suites, hostile),
        machines=(*plan.machines, HOSTILE.replace("/", "|")),
    )


def _plant(plan: Plan, rng: np.random.Generator, measured: list[int]) -> list[PlantedStep]:
    """Choose the steps."""
    models = [str(model) for suite in plan.suites for model in suite.params.get("model", ())]
    places = measured[5:-5]
    if not places:
        return []
    steps = []
    for number in range(plan.steps):
        where = places[int(rng.integers(len(places)))]
        ratio = STEP_SIZES[number % len(STEP_SIZES)]
        steps.append(PlantedStep(where, ratio, model=models[number % len(models)]))
    for _ in range(plan.machine_steps):
        where = places[int(rng.integers(len(places)))]
        steps.append(PlantedStep(where, 1.08, machine=plan.machines[0]))
    return steps


def _benchmarks(plan: Plan) -> dict[str, Any]:
    content: dict[str, Any] = {"version": 2}
    for suite in plan.suites:
        for function, kind, unit in suite.functions:
            name = f"{suite.name}.{function}"
            content[name] = {
                "code": f"class Suite:\n    def {function}(self): ...",
                "name": name,
                "param_names": list(suite.params),
                "params": [[repr(value) for value in values] for values in suite.params.values()],
                "timeout": 600.0,
                "type": kind,
                "unit": unit,
                "version": f"version-of-{function}",
            }
    return content


@dataclass(frozen=True)
class _SeriesFolder:
    """One machine with one torch pair: writes its result files."""

    plan: Plan
    machine: str
    pair: tuple[str, str]
    ratio: float
    hashes: tuple[str, ...]
    steps: list[PlantedStep]

    @property
    def environment(self) -> str:
        torch, torchvision = self.pair
        return f"virtualenv-py3.11-torch{torch}-torchvision{torchvision}-OMP_NUM_THREADS1"

    def facts(self, commit: int) -> dict[str, str]:
        """The machine's facts when a commit was measured; its kernel changes at its steps."""
        kernel = sum(
            1 for step in self.steps if step.machine == self.machine and step.commit <= commit
        )
        return {
            "arch": "x86_64",
            "cpu": "Imaginary CPU @ 3.00GHz",
            "num_cpu": "2",
            "os": f"Linux 6.{kernel}",
            "ram": "25165824",
        }

    def store(
        self, results: Path, content: dict[str, Any], record: list[Comparison], *, is_last: bool
    ) -> None:
        """Store why values are missing, and of the last run where it was measured."""
        described: dict[str, Any] = {
            "machine": {"kernel": "6.1.0-28-amd64", "governor": "performance", "swap": HOSTILE},
            "facts": {"torch build": f"{self.pair[0]}+cpu", "threads": "1 within operators"},
            "before": {"load_1_5_15_min": [0.1, 0.2, 0.3]},
        }
        at = content["date"] // 1000 + 3600
        if record or is_last:
            store_run(
                results,
                *(record or [Comparison("s.time_gone", at)]),
                commit=content["commit_hash"],
                of_machine=self.machine,
                environment=self.environment,
                at=at,
                requirements=content["requirements"],
                **(described if is_last else {}),
            )

    def comparisons(self, measured: list[int]) -> Iterator[list[Comparison]]:
        """What a night compares at a planted step of the code: the commits on both sides."""
        devices = {"cpu", *(["cuda"] if self.machine in self.plan.machines_with_cuda else [])}
        for step in self.steps:
            commit = step.commit
            cases = tuple(
                f"{suite.name}.{function}({', '.join(map(repr, case))})"
                for suite in self.plan.suites
                for function, kind, _ in suite.functions
                for case in itertools.product(*suite.params.values())
                if kind == "time"
                and step.model in map(str, case)
                and devices.issuperset({"cpu", "cuda"}.intersection(map(str, case)))
            )
            if step.model and cases:
                before = measured[measured.index(commit) - 1]
                at = FIRST_COMMIT_AT + commit * SECONDS_BETWEEN_COMMITS + 7200
                yield compared_commits(
                    (self.hashes[before], self.hashes[commit]),
                    dict.fromkeys(cases, step.ratio),
                    at=at,
                    machine=self.machine,
                    torch=self.pair[0],
                )

    def files(
        self, rng: np.random.Generator, measured: list[int]
    ) -> Iterator[tuple[str, dict[str, Any], list[Comparison]]]:
        """Name, content and record of the result file of each measured commit."""
        functions = [
            (suite, function, kind, self._series(rng, suite, kind, measured))
            for suite in self.plan.suites
            for function, kind, _ in suite.functions
        ]
        requirements = dict(zip(("torch", "torchvision"), self.pair, strict=True))
        for index, commit in enumerate(measured):
            started_at = (FIRST_COMMIT_AT + commit * SECONDS_BETWEEN_COMMITS + 3600) * 1000
            rows: dict[str, Any] = {}
            record: list[Comparison] = []
            for suite, function, kind, series in functions:
                row, output = self._row((suite, function, kind), series[:, index], rng, started_at)
                rows[f"{suite.name}.{function}"] = row
                record += output
            full_hash = self.hashes[commit]
            facts = {"machine": self.machine, "python": "3.11", **self.facts(commit)}
            content = {
                "commit_hash": full_hash,
                "env_name": self.environment,
                "date": (FIRST_COMMIT_AT + commit * SECONDS_BETWEEN_COMMITS) * 1000,
                "params": {**facts, **requirements},
                "python": "3.11",
                "requirements": requirements,
                "env_vars": {"OMP_NUM_THREADS": "1"},
                "result_columns": COLUMNS,
                "results": rows,
                "durations": {},
                "version": 2,
            }
            yield f"{full_hash[:8]}-{self.environment}.json", content, record

    def _series(
        self, rng: np.random.Generator, suite: Suite, kind: str, measured: list[int]
    ) -> np.ndarray:
        """Figures of a function: (cases, measured commits); NaN is never run.

        Infinity stands for skipped, minus infinity for failed, -1 for timed out.
        """
        plan = self.plan
        cases = list(itertools.product(*suite.params.values()))
        names = list(suite.params)
        shape = (len(cases), len(measured))
        noise = plan.noise * (0.05 if kind == "peakmemory" else 1.0)
        levels = {"time": 2e-3, "peakmemory": 5e8, "track": 1e6}[kind]
        level = levels * self.ratio * 10 ** rng.uniform(-0.5, 0.5, (shape[0], 1))
        matrix = level * rng.lognormal(0.0, noise, shape)
        matrix *= np.where(rng.random(shape) < plan.spikes, rng.uniform(1.3, 3.0, shape), 1.0)
        numbers = np.array(measured)
        for step in self.steps:
            after = numbers >= step.commit
            for row, case in enumerate(cases):
                of_model = step.model and str(case[names.index("model")]) == step.model
                of_machine = step.machine == self.machine and kind == "time"
                if of_model or of_machine:
                    matrix[row, after] *= step.ratio
        if kind != "time":
            matrix = np.round(matrix)
        chance = rng.random(shape)
        matrix[chance < plan.failures] = -math.inf
        matrix[(chance >= 0.3) & (chance < 0.3 + plan.timeouts)] = -1.0
        matrix[(chance >= 0.6) & (chance < 0.6 + plan.never_run)] = math.nan
        if "device" in names and self.machine not in plan.machines_with_cuda:
            on_cuda = [case[names.index("device")] == "cuda" for case in cases]
            matrix[np.array(on_cuda)] = math.inf
        if "device" in names and self.machine in plan.machines_without_cpu:
            matrix[np.array([case[names.index("device")] == "cpu" for case in cases])] = math.nan
        return matrix

    def _row(
        self,
        benchmark: tuple[Suite, str, str],
        matrix: np.ndarray,
        rng: np.random.Generator,
        started_at: int,
    ) -> tuple[list[Any], list[Comparison]]:
        """A row of a result file as asv writes it, and what the record says beside it."""
        suite, function, kind = benchmark
        params = [[repr(value) for value in values] for values in suite.params.values()]
        values: list[float | None] = []
        record: list[Comparison] = []
        for drawn, case in zip(matrix.tolist(), itertools.product(*params), strict=True):
            output = _OUTCOMES.get(drawn)
            if output is None:
                values.append(drawn)
                continue
            outcome, reason, stored = output
            values.append(stored)
            reasons = {0: HOSTILE if self.plan.hostile and outcome == "failed" else reason}
            record.append(
                Comparison(
                    f"{suite.name}.{function}({', '.join(case)})",
                    at=started_at // 1000 + 60,
                    skipped=reasons if outcome == "skipped" else {},
                    failed=reasons if outcome != "skipped" else {},
                    late=(0,) if outcome == "timed out" else (),
                )
            )
        row: list[Any] = [values, params, f"version-of-{function}", started_at, 12.5]
        if kind == "time":
            row += [values] * 6  # as many statistics as asv stores; nothing reads them
        return row, record


_OUTCOMES: dict[float, tuple[str, str, float | None]] = {
    math.inf: ("skipped", "no GPU on this machine", math.nan),
    -math.inf: ("failed", "RuntimeError: the input has 3 features, the model 4", None),
    -1.0: ("timed out", "stopped after 600 s", None),
}
