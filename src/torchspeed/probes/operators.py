"""Prints where the time of one case goes, operator by operator.

asv-watch runs it in the measured environment (``profiler`` of asv.conf.json), ``python -P
operators.py <folder of suites> <benchmark>-<index of the case>``; it imports nothing from this
package. The case is made by its own suite and called until it is warm. Then torch's profiler
records its calls, and oneDNN is asked which kernels one call runs. It prints one
line of JSON: ``{"skipped": "..."}``, or

- ``operators``, each with one set of input shapes: ``name``, ``shapes``, ``calls`` and ``seconds``
  of self time in one call of the case;
- ``kernels`` of oneDNN, each with one problem: ``primitive``, ``implementation`` (such as
  ``brg_conv_fwd:avx512_core``, or ``ref:any`` for the slow fallback) and ``problem``, its sizes;
- ``counts`` of one call: ``dispatches`` of operators, those that other operators make included;
  ``flops`` as torch.profiler counts them; ``allocations``, the blocks that torch's allocator gave
  out, and ``allocated_bytes``, their size together.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any, BinaryIO

_BATCHES = 5
"""Number of batches; an operator's least time counts, because interference only adds time."""
_BATCH_SECONDS = 0.2
"""The calls of a batch take at least this long together, without the profiler."""
_WARMUP = 0.2  # s
_MOST_CALLS = 50
_SECONDS = 10.0
"""Seconds after which no new batch begins: old releases of torch are slow to sum up operators."""

Record = dict[str, Any]
"""A part of what is printed."""


def parse_kernels(text: str) -> list[Record]:
    """Read what oneDNN prints of each primitive that it executes; other lines are left out."""
    kernels = []
    for line in text.splitlines():
        fields = line.split(",")
        if not line.startswith(("onednn_verbose", "dnnl_verbose")) or "exec" not in fields:
            continue
        start = fields.index("exec")
        if len(fields) < start + 6:
            continue
        names = ("primitive", "implementation", "problem")
        kernel = dict(zip(names, (*fields[start + 2 : start + 4], fields[-2]), strict=True))
        if kernel not in kernels:
            kernels.append(kernel)
    return kernels


def _profile(call: Callable[[], object], calls: int, *, counts: bool = False) -> Any:
    """Return torch's profiler after it has recorded calls, and the ``counts`` of their work."""
    import torch  # noqa: PLC0415 - of the environment

    with torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU],
        record_shapes=True,
        profile_memory=counts,
        with_flops=counts,
    ) as profiler:
        for _ in range(calls):
            call()
    return profiler


def _profile_operators(call: Callable[[], object], calls: int) -> list[Record]:
    batches = []
    start = time.perf_counter()
    for number in range(_BATCHES):
        if number and time.perf_counter() - start > _SECONDS:
            break
        profiler = _profile(call, calls)
        batches.append(list(profiler.key_averages(group_by_input_shape=True)))
    # Profilers of old releases now and then give an operator less time than those that it calls.
    sound = [batch for batch in batches if min(e.self_cpu_time_total for e in batch) >= 0]
    operators: dict[tuple[str, str], Record] = {}
    for batch in sound or batches:
        for event in batch:
            key = event.key, str(event.input_shapes)
            seconds = max(0.0, event.self_cpu_time_total) / 1e6 / calls
            if key not in operators or seconds < operators[key]["seconds"]:
                own = {"calls": event.count / calls, "seconds": seconds}
                operators[key] = {"name": key[0], "shapes": key[1], **own}
    return list(operators.values())


def _count(call: Callable[[], object]) -> Record:
    """Count the work of one call that is not timed, because counting takes time itself."""
    profiler = _profile(call, 1, counts=True)
    operators = [
        event
        for event in profiler.key_averages()
        if "::" in event.key and not event.key.startswith("autograd::")
    ]
    # The public list of events adds sizes up by operator, and subtracts what is freed.
    blocks = [
        event.nbytes()
        for event in profiler.profiler.kineto_results.events()
        if event.name() == "[memory]" and event.nbytes() > 0
    ]
    return {
        "dispatches": sum(event.count for event in operators),
        "flops": round(sum(event.flops for event in operators)),
        "allocations": len(blocks),
        "allocated_bytes": sum(blocks),
    }


def _run_with_kernels(call: Callable[[], object], output: BinaryIO) -> str:
    """Let oneDNN print the kernels of one call, and return all that was printed so far."""
    import torch  # noqa: PLC0415 - of the environment

    onednn: Any = torch.backends.mkldnn
    with onednn.verbose(onednn.VERBOSE_ON):
        call()
    ctypes.CDLL(None).fflush(None)
    output.seek(0)
    return output.read().decode(errors="replace")


def _warm_up(call: Callable[[], object]) -> int:
    """Run ``call`` until it is warm; return how many calls to profile."""
    calls, start = 0, time.perf_counter()
    while calls < 2 or time.perf_counter() - start < _WARMUP:
        call()
        calls += 1
    seconds = (time.perf_counter() - start) / calls
    return max(1, min(_MOST_CALLS, round(_BATCH_SECONDS / seconds)))


def main(suites: str, case: str) -> None:
    """Make the case and print its profile."""
    from asv_runner.discovery import get_benchmark_from_name  # noqa: PLC0415 - of the environment

    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    output = tempfile.TemporaryFile()  # noqa: SIM115 - as long as the process
    os.dup2(output.fileno(), sys.stdout.fileno())  # what suites, torch and oneDNN print
    benchmark: Any = get_benchmark_from_name(suites, case, extra_params={})
    keeps = benchmark.setup_cache_key is not None
    benchmark.set_cache(benchmark.do_setup_cache() if keeps else None)
    if benchmark.do_setup():
        print(json.dumps({"skipped": "skipped by its suite"}), file=answers, flush=True)
        return
    parameters = benchmark._build_params()

    def call() -> object:
        return benchmark.func(*parameters)

    calls = _warm_up(call)
    profile = {
        "operators": _profile_operators(call, calls),
        "kernels": parse_kernels(_run_with_kernels(call, output)),
        "counts": _count(call),
    }
    print(json.dumps(profile), file=answers, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
    os._exit(0)  # skips Python's garbage collection at exit, slow after torch
