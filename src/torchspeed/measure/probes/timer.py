"""Times one case, a sample on request: one side of an interleaved comparison.

Runs as a script in the environment that is measured, ``python -P timer.py <folder of suites>
<benchmark>-<place of the case> <planted share>``; it needs nothing of this package, so that it can
measure commits from before it. The case is made as asv makes it, by its own suite and under its
recipe: the length of a sample, the warm-up and the clock.

Before a sample of several calls one or more are not counted, because the other side used the
caches in between. A planted share makes every sample slower by that share of the time that its
calls took after the warm-up, by spinning the case's own clock.

It first prints one line of JSON: ``{"calls": 12, "one thread": true}``, or ``{"skipped": "..."}``.
Then it takes a sample for each line of standard input and prints its seconds a call; it ends when
standard input does.
"""

from __future__ import annotations

import json
import math
import os
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any, Protocol

_WARM_SHARE = 10
"""So many of a sample's calls to one that fills the caches before it; one at least does."""


class Timer(Protocol):
    """`timeit.Timer`."""

    def timeit(self, number: int) -> float:
        """Seconds that so many calls take."""


def calls_of_a_sample(timer: Timer, number: int, sample_time: float, warmup_time: float) -> int:
    """Warm up, and find how many calls make a sample.

    Args:
        timer: of the case.
        number: calls that the suite asks for; 0 where it leaves that open.
        sample_time: seconds that a sample lasts at least.
        warmup_time: seconds of calls that come before the first sample.
    """
    calls = number or 1
    start = time.perf_counter()
    while True:
        began = time.perf_counter()
        took = max(timer.timeit(calls), time.perf_counter() - began)
        if not number and took < sample_time:
            calls = max(calls + 1, math.ceil(calls * min(10.0, sample_time / max(took, 1e-9))))
        elif time.perf_counter() - start >= warmup_time:
            return calls


def _skip(tell: Callable[[dict[str, Any]], None], benchmark: Any) -> None:
    """Say why the case does not run here: its ``setup`` raised it, so ask that once more."""
    reason = "skipped by its suite"
    try:
        for setup in benchmark._setups:
            setup(*benchmark._build_params())
    except NotImplementedError as error:
        reason = str(error)
    tell({"skipped": reason})


def main(suites: str, case: str, planted: float) -> None:
    """Make the case, then take a sample for every line of standard input."""
    from asv_runner.discovery import get_benchmark_from_name  # noqa: PLC0415 - of the environment

    # What a suite prints must not be taken for a sample.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", buffering=1)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())

    def tell(message: dict[str, Any]) -> None:
        print(json.dumps(message), file=answers)

    benchmark = get_benchmark_from_name(suites, case, extra_params={})
    keeps = benchmark.setup_cache_key is not None
    benchmark.set_cache(benchmark.do_setup_cache() if keeps else None)
    if benchmark.do_setup():
        _skip(tell, benchmark)
        return
    timer = benchmark._get_timer(*benchmark._build_params())
    warmup = max(benchmark.warmup_time, 0.1)
    calls = calls_of_a_sample(timer, benchmark.number, benchmark.sample_time, warmup)
    spin = planted * statistics.median(timer.timeit(calls) for _ in range(5)) if planted else 0.0
    tell({"calls": calls, "one thread": benchmark.timer is time.process_time})
    for _ in sys.stdin:
        if calls > 1:
            timer.timeit(max(1, calls // _WARM_SHARE))
        seconds = timer.timeit(calls)
        start = end = benchmark.timer()
        while end - start < spin:
            end = benchmark.timer()
        tell({"seconds": (seconds + end - start) / calls})
    benchmark.do_teardown()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], float(sys.argv[3]))
