"""The same passes eager, compiled and as a CUDA graph; and what compiling costs."""

from __future__ import annotations

import dataclasses
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from ._cases import DEVICES, SMALL_CNNS, TIME_SERIES
from ._forks import outcomes_in_forks
from ._package import from_commit, skip_what_cannot_run
from ._selection import selected_cases
from ._suite import _Suite, _TimedPasses, skipped
from ._tracked import Measured, measured_once, stopped_after, tracked

MODELS = [*TIME_SERIES, *SMALL_CNNS, "resnet18", "squeezenet1_1"]
"""Ours, and torchvision's two quickest at 5 images of 3x224x224."""


@stopped_after(3600)
def setup_cache() -> str:
    """Compile the models of this run on the CPU, as many at the same time as there are cores.

    Nothing is compiled here for a GPU, which needs a process that never forked, or where
    nothing says which cases a run measures: then the first case that needs it compiles.

    Returns:
        The folder of compiled code, which the cases of a run share, and asv removes.
    """
    folder = str(Path.cwd())
    with suppress(ImportError):
        import_module("torchvision")
    outcomes_in_forks(partial(_compile_ahead, folder), _selected_models())
    return folder


def _selected_models() -> list[str]:
    """Return the models that a case of this run needs compiled for the CPU."""
    models = {
        case[0]
        for cases in (selected_cases() or {}).values()
        for case in cases
        if "'cpu'" in case and not {"'eager'", "'cudagraph'"} & set(case)
    }
    return [model for model in MODELS if repr(model) in models]


def _compile_ahead(folder: str, model: str) -> Measured:
    with suppress(Exception):  # its cases will compile again, and say why they cannot
        return compile_once(folder, model, "cpu")
    return {}


def compile_once(folder: str, model: str, device: str) -> Measured:
    """Compile both passes from nothing, unless a case of this run has; return what that cost.

    Raises:
        NotImplementedError: They cannot be compiled here.
    """

    def compile_both() -> Measured:
        skip_what_cannot_run(device, model)
        _skip_without_compiler(device)
        compile_cost = from_commit("measure.compile_cost", "compile_cost")
        return dataclasses.asdict(compile_cost(model, device, Path(folder)))

    return measured_once(Path(folder, f"cost-{model}-{device}.json"), compile_both)


def use_compiled_code(folder: str, model: str, device: str) -> None:
    """Let this process find what `compile_once` has compiled."""
    code_folder = from_commit("measure.compile_cost", "code_folder")
    keep_code_in = from_commit("measure.compilation", "keep_code_in")
    keep_code_in(code_folder(model, device, Path(folder)))


def _skip_without_compiler(device: str) -> None:
    unable = from_commit("measure.compilation", "cannot_compile")(device)
    if unable:
        raise NotImplementedError(unable)


class Compilation(_Suite):
    """Both passes compiled from nothing, once a run: the values of a model come together.

    On the CPU models are compiled side by side, one on each core. Seconds are CPU time of the
    first call and of the compilers that it starts. No graph breaks and no recompilations (when
    both passes run again, in turn) are expected.
    """

    params = (MODELS, DEVICES)
    param_names = ("model", "device")
    timeout = 900  # s: the largest of ours takes 1 min 30 s on one idle core
    position = 3

    measured: Measured

    def setup(self, folder: str, model: str, device: str) -> None:
        self.measured = compile_once(folder, model, device)

    track_compile_seconds_forward = tracked("forward_seconds", unit="seconds")
    track_compile_seconds_backward = tracked("backward_seconds", unit="seconds")
    track_graph_breaks = tracked("graph_breaks", unit="breaks", exact=True)
    track_recompilations = tracked("recompilations", unit="graphs", exact=True)


_not_on_the_cpu = skipped(
    [(model, "cpu", "cudagraph") for model in MODELS], "CUDA graphs are for GPUs"
)


class Modes(_TimedPasses):
    """Eager stands beside the others in the same recipe, so that their ratio is fair."""

    params = (MODELS, DEVICES, ["eager", "compiled", "cudagraph"])
    param_names = ("model", "device", "mode")
    rounds = 1  # a process that compiles pays seconds before its first sample
    repeat = (8, 20, 1.0)
    timeout = Compilation.timeout  # a case asked for alone compiles by itself
    position = 3

    def setup(self, folder: str, *case: Any) -> None:
        model, device, mode = case
        if mode == "compiled":
            skip_what_cannot_run(device, model)
            _skip_without_compiler(device)
            use_compiled_code(folder, model, device)
        super().setup(*case)

    time_forward = _not_on_the_cpu(_TimedPasses.time_forward)
    time_backward = _not_on_the_cpu(_TimedPasses.time_backward)
