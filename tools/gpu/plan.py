"""The steps of a session, in their order."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from asv_watch.engine.cases import MeasurableCase

_FIRST_MODELS = r"\('(darnn|dsanet|lstnet|tpa_lstm|flux_cnn|lenet5|resnet18_mnist)',"


@dataclass(frozen=True)
class Step:
    """A part of a session, in a process of its own that ends when its time is up."""

    name: str
    seconds: float
    """Longest time of the step."""
    cases: tuple[str, ...] = ()
    """Regular expressions; a case belongs to the step if one of them is found in its name."""
    without: str = "$^"
    """Regular expression of cases that are left out."""
    rounds: int = 1
    """Number of fresh processes of each case."""
    most_rounds: int = 0
    """Most rounds of a case whose ratio of two commits is not precise enough after `rounds`."""
    all_commits: bool = False
    """Whether older commits are measured too, interleaved; otherwise only the newest is."""
    by_pattern: bool = False
    """Whether cases run in the order of the expressions; otherwise those of one model run
    together, so that only seconds pass between values that are compared."""
    all_cores: bool = False
    """Whether it may use all cores; otherwise two, for Python and for autograd's thread."""
    parallel: int = 1
    """Number of cases measured at the same time; only counts of work allow more than one."""
    background: bool = False
    """Whether the next steps start while it runs; none of these may time anything."""
    after: str = ""
    """Background step that has to end first."""
    command: tuple[str, ...] = ()
    """A Python module and its arguments, run instead of cases."""

    def chosen(self, cases: Iterable[MeasurableCase]) -> list[MeasurableCase]:
        """Return its cases in the order in which they are measured."""
        found = [
            (index, case)
            for case in cases
            for index, pattern in enumerate(self.cases)
            if re.search(pattern, case.name) and not re.search(self.without, case.name)
        ]
        first = {case.name: index for index, case in reversed(found)}
        unique = {case.name: case for _, case in found}
        models: list[str] = list(dict.fromkeys(map(_model, unique)))
        if not self.by_pattern:
            return sorted(
                unique.values(),
                key=lambda case: (models.index(_model(case.name)), first[case.name]),
            )
        return sorted(unique.values(), key=lambda case: first[case.name])


def _model(case: str) -> str:
    """Return the first parameter of a case, or the case."""
    return re.split(r"[(,)]", case)[1] if "(" in case else case


_FORECASTERS = r"\('(darnn|dsanet|lstnet|tpa_lstm)', 'cuda'"
_COMPILED = (
    r"^(plain_compiled\.PlainCompiled|modes\.Modes)\.time_\w+" + _FORECASTERS + ", 'compiled'"
)

_HOST = r"^batches\.\w+\.time_.*'cpu', 'tuned', (1|4|'all'), 'source'"

_MACHINE = Step("machine", 30, command=("tools.gpu.machine",), all_cores=True, background=True)
_MACHINE_ALONE = dataclasses.replace(_MACHINE, seconds=20, background=False)
"""For a session whose next step times the host's cores."""

FIRST = (
    _MACHINE,
    Step(
        "compile",
        55,
        cases=(
            r"^plain_compiled\.PlainCompilation\.track_compile_seconds_forward" + _FORECASTERS,
            r"^modes\.Compilation\.track_compile_seconds_forward" + _FORECASTERS,
        ),
        all_cores=True,
        parallel=8,
        background=True,
    ),
    Step("tests", 60, command=("tools.gpu.programs", "tests"), all_cores=True),
    Step(
        "history",
        190,
        cases=(
            r"^plain\.PlainModels\.time_\w+" + _FIRST_MODELS + " 'cuda'",
            r"^time_series\.TimeSeries\.time_.*'cuda'",
            r"^small_cnns\.SmallCNNs\.time_.*'cuda'",
            r"^fused\.",
            r"^plain_graphs\.\w+\.time_\w+" + _FIRST_MODELS,
            r"^modes\.Modes\.time_.*'cuda', 'cudagraph'",
            r"^torchvision_models\..*time_.*'(resnet18|squeezenet1_1)', 'cuda', 5",
        ),
        without=r"small_cnns.*'resnet18_mnist'|modes.*'(resnet18_mnist|resnet18|squeezenet1_1)'",
        rounds=5,
        most_rounds=12,
        all_commits=True,
        after="compile",
    ),
    Step(
        "today",
        25,
        cases=(r"^plain\.PlainModels\.time_.*'cuda'", r"^plain_graphs\."),
        without=_FIRST_MODELS,
        by_pattern=True,
        rounds=2,
    ),
    Step(
        "latency",
        40,
        cases=(r"^latency\..*" + _FIRST_MODELS + " 'cuda'", r"^latency\..*'cuda'"),
        without="'compiled'",
        by_pattern=True,
    ),
    Step(
        "training",
        45,
        cases=(
            r"^training\.BenchmarkJade.*'cuda', 'published'",
            r"^training\.FluxCNNEpoch.*'cuda'",
            r"^training\.TimeToAccuracy.*'cuda'",
            r"^training\.TrainingStep.*'(darnn|dsanet|lstnet|tpa_lstm|lenet5)', 'cuda'",
        ),
        by_pattern=True,
        all_cores=True,
    ),
    Step("expected", 25, command=("tools.gpu.programs", "expected"), all_cores=True),
    Step("compiled", 25, cases=(_COMPILED,), rounds=2),
)
"""The tests, what changed, today's models, training, compiled."""

SECOND = (
    _MACHINE_ALONE,
    Step("host", 35, cases=(_HOST,), by_pattern=True, all_cores=True),
    Step("fastest", 40, command=("tools.gpu.fastest",)),
    Step(
        "device",
        20,
        cases=(
            r"^device_time\.(DeviceTime|Fused)\.track_kernel_seconds_forward",
            r"^device_time\.(DeviceTime|Fused)\.",
            r"^device_memory\.DeviceMemory\." + r"track.*" + _FIRST_MODELS,
        ),
    ),
    Step(
        "crossover",
        75,
        cases=(
            r"^batches\.TimeSeries\.time_forward.*'tuned', (1|'all'), (1|'source'|256)\)",
            r"^batches\.Forecasters\.time_forward.*, (1|'source')\)",
            r"^batches\.(TimeSeries|Forecasters)\.time_forward.*, (1|'source'|256)\)",
            r"^batches\.(TimeSeries|Forecasters)\..*, (1|'source'|256)\)",
            r"^batches\.(TimeSeries|Forecasters)\.",
        ),
        without=_HOST,
        by_pattern=True,
        all_cores=True,
    ),
    Step("spread", 40, command=("tools.gpu.spread", "10"), all_cores=True),
    Step(
        "more",
        9,
        cases=(
            r"^device_time\.Forecasters\.track_kernel_seconds_forward",
            r"^device_time\.Forecasters\.",
            r"^fluxbench\..*time_.*'cuda'",
            r"^torchvision_models\..*time_.*'cuda', 5",
            r"^operators\..*'cuda', 'fp32', 'large'",
            r"^variants\..*'cuda'",
            r"^device_memory\.",
            r"^utilisation\.TimeSeries.*'cuda'",
        ),
        by_pattern=True,
    ),
)
"""GPU or CPU, which implementations are the fastest, device time, and why processes differ."""

SESSIONS: dict[str, Sequence[Step]] = {"first": FIRST, "second": SECOND}

BUDGETS = {"first": 460.0, "second": 280.0}
"""Seconds in which each session ends, even if every one of its steps takes all its time."""
GRACE_S = 5.0
"""Seconds that a step may exceed its time before it is killed."""
RESERVE_S = 6.0
"""Seconds kept free at the end, to stop what still runs."""


def find_step(session: str, name: str) -> Step:
    """Return a step of a session by its name."""
    return next(step for step in SESSIONS[session] if step.name == name)
