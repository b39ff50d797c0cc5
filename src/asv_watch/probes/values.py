"""Prints the peak memory and the exact counts that cases measure.

Runs as a script in the environment that is measured, ``python -P values.py <folder of suites>
<benchmark>-<place of the case> ...``; it needs nothing of this package. A case is made by its own
suite, as asv makes it; cases that share a ``setup_cache`` share what it returned. It prints one
line of JSON for each case: ``{"value": 7.0}``, ``{"skipped": "<reason>"}`` or ``{"failed":
"<error>"}``, which says where an error without a text was raised. Peak memory is that of the whole
process, so such a case needs a process of its own. Mapped files are left out of it: how many of
their pages are resident depends on the page cache, so that importing one library
takes 425 MiB after one installation and 532 MiB after another. So is the peak that Linux hands on
from the process that started this one: ``ru_maxrss``, which asv reads, never falls below that.
"""

from __future__ import annotations

import json
import os
import re
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

_KIB = 1024


def own_peak_memory(peak: float) -> float:
    """Return the peak memory of this process without mapped files, such as libraries.

    Args:
        peak: as asv measures it, where the system says no more.
    """
    status = Path("/proc/self/status")
    lines = status.read_text(encoding="utf-8") if status.exists() else ""
    sizes = {name: int(kib) * _KIB for name, kib in re.findall(r"(\w+):\s+(\d+) kB", lines)}
    return sizes.get("VmHWM", peak) - sizes.get("RssFile", 0)


def measure(suites: str, case: str, caches: dict[str, Any]) -> dict[str, float | str]:
    """Measure one case.

    Args:
        suites: their folder.
        case: the benchmark's name and the case's place among its cases.
        caches: what the ``setup_cache`` of earlier cases returned; this case's is added.
    """
    from asv_runner.discovery import get_benchmark_from_name  # noqa: PLC0415 - of the environment

    try:
        benchmark: Any = get_benchmark_from_name(suites, case, extra_params={})
        key = benchmark.setup_cache_key
        if key is not None and key not in caches:
            caches[key] = benchmark.do_setup_cache()
        benchmark.set_cache(caches.get(key))
        parameters = benchmark._build_params()
        for setup in benchmark._setups:
            setup(*parameters)
        value = float(benchmark.run(*parameters))
        return {"value": own_peak_memory(value) if benchmark.type == "peakmemory" else value}
    except NotImplementedError as reason:
        return {"skipped": str(reason) or "skipped by its suite"}
    except Exception as error:
        return {"failed": f"{type(error).__name__}: {str(error) or raised_at(error)}"}


def raised_at(error: Exception) -> str:
    """Return the statement that raised an error, its function and its file."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    file = frame.filename.rpartition("site-packages/")[2]
    return f"{frame.line or 'raised'} in {frame.name} of {file}, line {frame.lineno}"


def main(suites: str, cases: Sequence[str]) -> None:
    """Measure cases one after the other; what a suite prints goes to standard error."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", buffering=1)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    caches: dict[str, Any] = {}
    for case in cases:
        print(json.dumps(measure(suites, case, caches)), file=answers)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
    sys.stdout.flush()
    os._exit(0)  # or Python looks for cycles among all that was imported, for up to a second
