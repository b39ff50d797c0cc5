"""Peak memory is two metrics, and the outcome of a case says of which one its value is.

The engine stores the peak **private** memory of a process, without mapped files. asv, and the runs
before 2026-11-26, store ``ru_maxrss``, the peak **resident** memory with them. The outcome of a
value that the engine measured counts its rounds; other outcomes do not.

Values of resident memory belong to a benchmark of their own, whose name ends in ``@resident``. So
they are a series of their own, and no comparison, which measures private memory, is of its cases.
"""

from __future__ import annotations

import msgspec

from asv_watch.records.records import Benchmark

PRIVATE, RESIDENT = "peakmemory", "resident memory"
"""Types of benchmarks; asv knows the first one alone."""
_MARK = "@resident"


def resident_benchmark(benchmark: Benchmark) -> Benchmark:
    """Return the benchmark of the resident memory that a benchmark of peak memory had stored."""
    return msgspec.structs.replace(benchmark, name=benchmark.name + _MARK, type=RESIDENT)


def suite_name(name: str) -> str:
    """Return the name that suites give a benchmark or a case: without the mark, if it has one."""
    benchmark, parenthesis, params = name.partition("(")
    return benchmark.removesuffix(_MARK) + parenthesis + params


def is_resident(name: str) -> bool:
    """Tell whether a benchmark or a case, by its name, is of resident memory."""
    return suite_name(name) != name
