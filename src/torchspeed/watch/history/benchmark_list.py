"""The benchmarks of today's suites, as asv's ``benchmarks.json`` lists them."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from torchspeed.errors import TorchspeedError
from torchspeed.watch.history.reading import read_regular
from torchspeed.watch.history.records import Benchmark, Problem

_API_VERSION = 2
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
        TorchspeedError: The file is missing, unreadable, or no list of benchmarks.
    """
    path = results_dir / "benchmarks.json"
    try:
        content = json.loads(read_regular(path))
    except FileNotFoundError as error:
        raise TorchspeedError(f"{path} is missing: {_REMEDY}") from error
    except OSError as error:
        raise TorchspeedError(
            f"{path} cannot be read ({error.strerror}): mend that, or {_REMEDY}"
        ) from error
    except (ValueError, RecursionError) as error:
        raise TorchspeedError(f"{path} is damaged ({error}): {_REMEDY}") from error
    if not isinstance(content, dict) or content.pop("version", None) != _API_VERSION:
        raise TorchspeedError(
            f"{path} is no list of benchmarks in asv's format {_API_VERSION}: {_REMEDY}"
        )
    benchmarks: dict[str, Benchmark] = {}
    problems: list[Problem] = []
    for name, entry in content.items():
        try:
            benchmarks[name] = _benchmark(name, entry)
        except (KeyError, TypeError, ValueError) as error:
            problems.append(
                Problem(str(path), f"entry {name!r} is left out: {error}; {_REMEDY}"),
            )
    return benchmarks, problems


def _benchmark(name: str, entry: Any) -> Benchmark:
    if not isinstance(entry, dict):
        raise TypeError("it is no object")
    params = tuple(tuple(_texts(values, "params")) for values in _list(entry, "params"))
    param_names = tuple(_texts(_list(entry, "param_names"), "param_names"))
    if len(params) != len(param_names):
        raise ValueError("params and param_names differ in length")
    if math.prod(map(len, params)) > MOST_CASES:
        raise ValueError(f"its params make more than {MOST_CASES:,} cases")
    unit = entry.get("unit")
    timeout = entry.get("timeout")
    higher = entry.get("higher_is_better")
    position = entry.get("position")
    if not isinstance(unit, str):
        unit = "unit"
    return Benchmark(
        name=name,
        type=str(entry.get("type", "")),
        unit=unit,
        param_names=param_names,
        params=params,
        version=str(entry.get("version", "")),
        code=str(entry.get("code", "")),
        higher_is_better=higher if isinstance(higher, bool) else more_is_better(unit),
        timeout=float(timeout) if isinstance(timeout, (int, float)) else math.nan,
        position=position if isinstance(position, int) else 5,
    )


def more_is_better(unit: str) -> bool:
    """Tell from a unit whether more of it is better: rates and shares of a peak are."""
    unit = unit.strip().lower()
    return unit in _HIGHER_IS_BETTER or unit.endswith(("/s", "/second", " per second"))


def _list(entry: dict[str, Any], key: str) -> list[Any]:
    values = entry.get(key, [])
    if not isinstance(values, list):
        raise TypeError(f"{key} is no list")
    return values


def _texts(values: Any, key: str) -> list[str]:
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise TypeError(f"{key} holds something other than text")
    return values
