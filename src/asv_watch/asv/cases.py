"""A benchmark's cases as asv lists them: their names, and which cannot run here."""

from __future__ import annotations

import itertools
from typing import Any

from asv_watch.asv.declared import Declared
from asv_watch.machine.gpu import gpu_is_plainly_absent


def case_name(benchmark: dict[str, Any], params: tuple[str, ...]) -> str:
    """Name a case as asv's ``--bench`` matches it: ``suite.Class.time_x('darnn', 'cpu')``."""
    return f"{benchmark['name']}({', '.join(params)})" if params else str(benchmark["name"])


def cases_of(benchmark: dict[str, Any]) -> list[tuple[str, ...]]:
    """Return the product of a benchmark's parameters, in asv's order."""
    return list(itertools.product(*benchmark["params"])) if benchmark["params"] else [()]


def process_name(benchmark: dict[str, Any], index: int) -> str:
    """Name a case as asv's script does, by its place in `cases_of`."""
    return f"{benchmark['name']}-{index}" if benchmark["params"] else str(benchmark["name"])


def skipped_because(benchmark: dict[str, Any]) -> str:
    """Return the suite's reasons for skipping cases of a benchmark."""
    return str(benchmark.get("skipped_because") or "skipped by its suite")


def cannot_run(benchmark: dict[str, Any], params: tuple[str, ...], declared: Declared) -> str:
    """Return why a case is skipped, as far as no process is needed to tell; empty if it runs."""
    if declared.uses_gpu(case_name(benchmark, params)) and gpu_is_plainly_absent():
        return "no GPU on this machine"
    # asv's list of cases names values by their repr, the decorator's holds the values.
    if any(params == tuple(map(repr, values)) for values in benchmark.get("skip_params", [])):
        return skipped_because(benchmark)
    return ""
