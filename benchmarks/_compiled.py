"""Compile each model once per run; all suites that run it share the compiled code."""

from pathlib import Path
from typing import Any, ClassVar

from ._package import from_commit, options_of, skip_what_cannot_run
from ._suite import _TimedPasses
from ._tracked import Measured, _CachedSuite, tracked

TIMEOUT = 900  # s: the largest of ours takes 1 min 30 s to compile on one idle core


class _Compilation(_CachedSuite):
    """Both passes are compiled without a cache, once per run; that gives all values of a model.

    Seconds are CPU time of the first call and of the compilers that it starts.
    """

    param_names = ("model", "device")
    timeout = TIMEOUT
    implementation: ClassVar[str] = "tuned"

    def measure(self, model: str, device: str) -> Measured:
        """Compile a model; the code stays for the other suites of the run."""
        skip_what_cannot_run(device, model, compiled=True)
        compile_cost = from_commit("measure.compile_cost", "compile_cost")
        options = options_of(compile_cost, self.implementation)
        return compile_cost(model, device, Path(self.folder), **options)

    track_compile_seconds_forward = tracked("forward_seconds", unit="seconds")
    track_compile_seconds_backward = tracked("backward_seconds", unit="seconds")
    track_graph_breaks = tracked("graph_breaks", unit="breaks", exact=True)
    track_recompilations = tracked("recompilations", unit="graphs", exact=True)


class _CompiledPasses(_TimedPasses):
    """Seconds of passes in one of several modes, with the code that a run compiles once."""

    param_names = ("model", "device", "mode")
    code_version = "2"  # in version 1, the first call compiled, so samples were single calls
    rounds = 1  # a process that compiles pays seconds before its first sample
    repeat = (8, 20, 1.0)
    timeout = TIMEOUT  # a case that is measured alone compiles first

    setup_cache = _CachedSuite.setup_cache

    def setup(self, folder: str, *case: Any) -> None:
        model, device, mode = case
        if mode == "compiled":
            skip_what_cannot_run(device, model, compiled=True)
            code_folder = from_commit("measure.compile_cost", "code_folder")
            keep_code_in = from_commit("measure.compilation", "keep_code_in")
            options = options_of(code_folder, self.implementation)
            keep_code_in(code_folder(model, device, Path(folder), **options))
        super().setup(*case)
