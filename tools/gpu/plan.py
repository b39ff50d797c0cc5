"""The steps of a session, in their order."""

from __future__ import annotations

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
    all_commits: bool = False
    """Whether the older commits are measured too, interleaved; else the newest alone."""
    newest_only: str = "$^"
    """Regular expression of cases that are measured of the newest commit alone all the same."""
    by_pattern: bool = False
    """Whether cases run in the order of the expressions; otherwise those of one model run
    together, so that only seconds pass between values that are compared."""
    all_cores: bool = False
    """Otherwise the step is pinned to two cores: one for Python, one for autograd's thread."""
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

_MACHINE = Step("machine", 30, command=("tools.gpu.machine",), all_cores=True, background=True)

FIRST = (
    _MACHINE,
    Step(
        "compile",
        120,
        cases=(
            r"^plain_compiled\.PlainCompilation\.track_compile_seconds_forward" + _FORECASTERS,
            r"^modes\.Compilation\.track_compile_seconds_forward" + _FORECASTERS,
        ),
        all_cores=True,
        parallel=8,
        background=True,
    ),
    Step("tests", 75, command=("tools.gpu.tests",), all_cores=True),
    Step(
        "device",
        75,
        cases=(
            r"^device_time\.DeviceTime\.track_kernel_seconds_forward",
            r"^device_time\.DeviceTime\.",
            r"^device_memory\.DeviceMemory\." + r"track.*" + _FIRST_MODELS,
        ),
        after="compile",
    ),
    Step(
        "history",
        230,
        cases=(
            r"^plain\.PlainModels\.time_\w+" + _FIRST_MODELS + " 'cuda'",
            r"^time_series\.TimeSeries\.time_.*'cuda'",
            r"^small_cnns\.SmallCNNs\.time_.*'cuda'",
            r"^plain_graphs\.\w+\.time_\w+" + _FIRST_MODELS,
            r"^modes\.Modes\.time_.*'cuda', 'cudagraph'",
            r"^torchvision_models\..*time_.*'(resnet18|squeezenet1_1)', 'cuda', 5",
        ),
        without=r"small_cnns.*'resnet18_mnist'|modes.*'(resnet18_mnist|resnet18|squeezenet1_1)'",
        rounds=5,
        all_commits=True,
        newest_only=r"^plain",  # these models do not change
        after="compile",
    ),
    Step("compiled", 40, cases=(_COMPILED,), rounds=2, after="compile"),
    Step(
        "host",
        60,
        cases=(r"^batches\..*'cpu', '\w+', (1|'all'), 'source'",),
        all_cores=True,
    ),
    Step(
        "training",
        70,
        cases=(
            r"^training\.BenchmarkJade.*'cuda', 'published'",
            r"^training\.FluxCNNEpoch.*'cuda'",
            r"^training\.TimeToAccuracy.*'cuda'",
            r"^training\.TrainingStep.*'(darnn|dsanet|lstnet|tpa_lstm|lenet5)', 'cuda'",
        ),
        all_cores=True,
    ),
)

SECOND = (
    _MACHINE,
    Step("spread", 60, command=("tools.gpu.spread", "10"), all_cores=True),
    Step(
        "today",
        95,
        cases=(
            r"^plain\.PlainModels\.time_.*'cuda'",
            r"^latency\..*'cuda'",
            r"^plain_graphs\.",
            r"^fluxbench\..*time_.*'cuda'",
            r"^torchvision_models\..*time_.*'cuda', 5",
        ),
        without=r"^(plain|plain_graphs)\..*" + _FIRST_MODELS + r"|'compiled'",
        by_pattern=True,
        rounds=2,
    ),
    Step(
        "batches",
        110,
        cases=(
            r"^batches\.TimeSeries\..*'cuda'",
            r"^batches\.TimeSeries\..*'cpu', '\w+', 'all'",
            r"^batches\.TimeSeries\.",
        ),
        by_pattern=True,
        all_cores=True,
    ),
    Step(
        "more",
        90,
        cases=(
            r"^device_time\.Forecasters\.track_kernel_seconds_forward",
            r"^device_time\.Forecasters\.",
            r"^operators\..*'cuda', 'fp32', 'large'",
            r"^variants\..*'cuda'",
            r"^device_memory\.",
            r"^utilisation\.TimeSeries.*'cuda'",
        ),
        by_pattern=True,
    ),
)

REHEARSAL = (
    _MACHINE,
    Step(
        "pair",
        60,
        cases=(
            r"^time_series\.TimeSeries\.time_forward\('lstnet', 'cpu'",
            r"^plain_graphs\.PlainGraphs\.time_forward\('lstnet'",
            r"^work\.Work\.track_flops_forward\('lstnet'",
        ),
        rounds=2,
        all_commits=True,
    ),
    Step("parallel", 30, cases=(r"^work\.Work\.track_flops_forward\('lenet5'",), parallel=2),
    Step("spread", 30, command=("tools.gpu.spread", "1")),
)
"""A short version of everything, on the CPU of any machine."""

SESSIONS: dict[str, Sequence[Step]] = {
    "first": FIRST,
    "second": SECOND,
    "rehearsal": REHEARSAL,
}


def find_step(session: str, name: str) -> Step:
    """Return a step of a session by its name."""
    return next(step for step in SESSIONS[session] if step.name == name)
