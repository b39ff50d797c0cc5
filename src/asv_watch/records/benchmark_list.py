"""The benchmarks of today's suites, as asv's ``benchmarks.json`` lists them."""

from __future__ import annotations

import math
from pathlib import Path

import msgspec

from asv_watch.errors import WatchError
from asv_watch.files import read_regular
from asv_watch.records.records import Benchmark, Problem
from asv_watch.records.suite_lists import FILE_NAME, parse_list

_REMEDY = "write it anew with `asv run --bench just-discover`"

MOST_CASES = 100_000
"""Cases of one benchmark: more are taken for damage, and would fill the memory."""

# Units of which more is better; any rate per second counts as well.
_HIGHER_IS_BETTER = frozenset({"accuracy", "mfu", "flops", "flop/s", "hz", "ratio of peak"})


def read_benchmarks(results_dir: Path) -> tuple[dict[str, Benchmark], list[Problem]]:
    """Read ``benchmarks.json`` of a results folder.

    Returns:
        The benchmarks by name, in the file's order, and one problem for each
        entry that has not the shape of a benchmark.

    Raises:
        WatchError: The file is missing, unreadable, or no list of benchmarks.
    """
    path = results_dir / FILE_NAME
    try:
        content = parse_list(read_regular(path))
    except FileNotFoundError as error:
        raise WatchError(f"{path} is missing: {_REMEDY}") from error
    except OSError as error:
        raise WatchError(
            f"{path} cannot be read ({error.strerror}): correct that, or {_REMEDY}"
        ) from error
    except ValueError as error:
        raise WatchError(f"{path} is damaged ({error}): {_REMEDY}") from error
    benchmarks: dict[str, Benchmark] = {}
    problems: list[Problem] = []
    for name, entry in content.items():
        try:
            benchmark = msgspec.convert({"unit": "unit", **entry, "name": name}, Benchmark)
            _check(benchmark)
        except (TypeError, ValueError) as error:
            message = f"entry {name!r} is left out: {error}; {_REMEDY}"
            problems.append(Problem(str(path), message))
            continue
        if "higher_is_better" not in entry:
            better = more_is_better(benchmark.unit)
            benchmark = msgspec.structs.replace(benchmark, higher_is_better=better)
        benchmarks[name] = benchmark
    return benchmarks, problems


def _check(benchmark: Benchmark) -> None:
    if len(benchmark.params) != len(benchmark.param_names):
        raise ValueError("params and param_names differ in length")
    if math.prod(map(len, benchmark.params)) > MOST_CASES:
        raise ValueError(f"its params make more than {MOST_CASES:,} cases")


def more_is_better(unit: str) -> bool:
    """Tell from a unit whether more of it is better: rates and shares of a peak are."""
    unit = unit.strip().lower()
    return unit in _HIGHER_IS_BETTER or unit.endswith(("/s", "/second", " per second"))
