"""Tells the two metrics of peak memory apart: private and resident memory.

The engine stores the peak **private** memory of a process, without mapped files. asv, and the runs
before 2026-11-26, store ``ru_maxrss``, the peak **resident** memory, which includes them. A value
is private memory if its outcome has a number of rounds, which only the engine stores.

Values of resident memory belong to a separate benchmark, whose name ends in ``@resident``. So they
form their own series, and comparisons, which measure private memory, have none of its cases.
"""

from __future__ import annotations

import msgspec

from asv_watch.records.records import Benchmark, benchmark_of

PRIVATE, RESIDENT = "peakmemory", "resident memory"
"""Types of benchmarks; asv knows only the first one."""
_MARK = "@resident"


def resident_benchmark(benchmark: Benchmark) -> Benchmark:
    """Return the benchmark for resident memory that is stored under a peak-memory benchmark."""
    return msgspec.structs.replace(benchmark, name=benchmark.name + _MARK, type=RESIDENT)


def suite_name(name: str) -> str:
    """Return the name that suites give a benchmark or a case: without the mark, if it has one."""
    benchmark = benchmark_of(name)
    return benchmark.removesuffix(_MARK) + name.removeprefix(benchmark)


def is_resident(name: str) -> bool:
    """Tell whether a name belongs to a benchmark or a case of resident memory."""
    return suite_name(name) != name
