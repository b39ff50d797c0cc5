"""What every suite inherits: its version and the recipe by which it is sampled.

A suite is a docstring, ``params``, ``param_names`` and one line for each measurement. asv
ignores names that begin with an underscore. asv.conf.json says where the site lists a
suite and which of its cases ``make bench`` measures.
"""

import inspect
import os
import time
from collections.abc import Callable, Iterable, Sequence
from functools import update_wrapper
from importlib import import_module
from importlib.metadata import version
from timeit import Timer
from types import FunctionType
from typing import Any, ClassVar, TypeVar, cast

from asv_runner.benchmarks.mark import skip_for_params
from asv_runner.benchmarks.time import TimeBenchmark

from ._package import from_commit, options_of, skip_what_cannot_run

F = TypeVar("F", bound=Callable[..., Any])

_RECIPE = ("rounds", "repeat", "sample_time", "first_calls", "warmup_time", "number")
"""Attributes that say how the samples of a ``time_*`` are taken."""

_FIRST_CALLS_S = 1.0
"""No further first call starts this many seconds after the very first one has returned."""


class _Suite:
    """Gives every ``time_*``, ``peakmem_*`` and ``track_*`` of a suite its own asv ``version``.

    asv reads the version from the function, but suites share the functions that they inherit.
    So each suite gets copies.
    """

    params: ClassVar[Sequence[Sequence[Any]]]
    param_names: ClassVar[Sequence[str]]

    code_version: ClassVar[str] = "1"
    """Change it when values before and after must not be compared."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for name, function in inspect.getmembers(cls, inspect.isfunction):
            kind = name.partition("_")[0]
            if kind in ("time", "peakmem", "track"):
                own = FunctionType(
                    function.__code__,
                    function.__globals__,
                    argdefs=function.__defaults__,
                    closure=function.__closure__,
                )
                update_wrapper(own, function).__dict__["version"] = _version(cls, kind)
                setattr(cls, name, own)


def _version(suite: type[_Suite], kind: str) -> str:
    """Return the version of the suite's code, then how its values are sampled.

    Values of another code version are not shown with today's. Values that were only sampled
    differently stay in one series, but are never compared with each other.
    """
    parts = [suite.code_version]
    if kind == "time":
        fixed = hasattr(suite, "number")  # calls per sample; else as many as fill sample_time
        names = [name for name in _RECIPE if name != ("sample_time" if fixed else "number")]
        words = [f"{name}={_written(getattr(suite, name))}" for name in names]
        parts.append(" ".join([*words, "value=median"]))  # over the rounds
    if kind == "peakmem":
        parts.append("memory=private")  # without mapped files, such as libraries
    if kind != "track":  # what a `track_*` returns is stored as it is
        parts.append(f"asv_runner {version('asv_runner')}")
    return "; ".join(parts)


def _written(value: float | tuple[float, ...]) -> str:
    return ",".join(f"{part:g}" for part in (value if isinstance(value, tuple) else (value,)))


def skipped(cases: Iterable[Sequence[Any]], because: str) -> Callable[[F], F]:
    """Leave out cases that never make sense, without starting a process for them."""

    def mark(function: F) -> F:
        marked = skip_for_params(list(map(tuple, cases)))(function)
        marked.skipped_because = because
        return cast("F", marked)

    return mark


# asv would otherwise call `setup` before every call and time each call alone, which is noisier
# than timing a batch of calls. Our `setup` keeps what it built, so calling it once per sample is
# enough. asv has no setting for this.
TimeBenchmark._setup_isolates_timed_calls = False

_take_samples: Callable[..., tuple[list[float], int]] = TimeBenchmark.benchmark_timing


def _take_samples_when_warm(
    benchmark: TimeBenchmark, timer: Timer, *arguments: Any, **options: Any
) -> tuple[list[float], int]:
    """Make the first calls of a suite, then let asv_runner calibrate, warm up and take samples.

    asv_runner ends calibration and warm-up with the first call that lasts long enough. On a GPU
    that is the very first one, because it loads kernels, and with ``torch.compile`` the one that
    compiles: every sample would then be a single call.
    """
    declared = (getattr(source, "first_calls", None) for source in benchmark._attr_sources)
    calls = next((number for number in declared if number is not None), 0)
    begun = None
    for _ in range(calls):
        if begun is None or time.perf_counter() - begun < _FIRST_CALLS_S:
            benchmark._redo_setup_next = False
            timer.timeit(1)
            begun = begun or time.perf_counter()
    return _take_samples(benchmark, timer, *arguments, **options)


TimeBenchmark.benchmark_timing = _take_samples_when_warm


class _TimedSuite(_Suite):
    """The recipe of a timed case (packages/asv-watch/docs/measuring.md)."""

    rounds = 3  # processes that a case is measured in
    repeat = (2, 20, 0.5)  # samples per round: least, most, seconds to stop after
    sample_time = 0.02  # s: short calls are timed in batches of this length
    first_calls = 3  # uncounted calls before calibration and warm-up
    warmup_time = 0.1  # s

    timer: Callable[[], float]

    def choose_clock(self, device: str) -> None:
        self.timer = from_commit("measure.clocks", "clock_for")(device)

    def use_all_cores(self) -> None:
        """Run on every core, by wall time: CPU time would be the sum over the cores."""
        allowed = getattr(os, "sched_getaffinity", lambda _: range(os.cpu_count() or 1))
        import_module("torch").set_num_threads(len(allowed(0)))
        self.timer = time.perf_counter


class _PassSuite(_Suite):
    """A suite whose parameters name a workload, a device and further options of its passes."""

    implementation: ClassVar[str] = "tuned"
    """``plain`` or ``tuned`` models, where no parameter says which."""

    def setup(self, *case: Any) -> None:
        """Build the passes of a case; skip what this commit or machine lacks."""
        self.build(**dict(zip(self.param_names, case, strict=True)))

    def build(
        self, model: str, device: str, implementation: str | None = None, **options: Any
    ) -> None:
        skip_what_cannot_run(device, model)
        passes = from_commit("measure.passes", "passes")
        options = options_of(passes, implementation or self.implementation, **options)
        self.passes = passes(model, device, **options)


class _TimedInference(_PassSuite, _TimedSuite):
    """Seconds of the forward pass."""

    def setup(self, *case: Any) -> None:
        super().setup(*case)
        self.choose_clock(case[self.param_names.index("device")])

    def time_forward(self, *case: Any) -> None:
        """One inference."""
        self.passes.forward()


class _TimedPasses(_TimedInference):
    """Seconds of both passes."""

    def time_backward(self, *case: Any) -> None:
        """One forward pass, and the gradient with respect to parameters and input."""
        self.passes.backward()


class _ModelSuite(_TimedPasses):
    """Seconds and peak memory of both passes of every model."""

    def peakmem_forward(self, *case: Any) -> None:
        """Peak host memory, in bytes, of a process that infers once, on CUDA too."""
        self.passes.forward()

    def peakmem_backward(self, *case: Any) -> None:
        """Peak host memory, in bytes, of a process that does one backward pass, on CUDA too."""
        self.passes.backward()
