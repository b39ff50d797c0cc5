"""Which cases a run measures: a ``setup_cache`` need not prepare the others."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

_CASES = "cases.json"
"""What runs the benchmarks leaves it in the folder of a ``setup_cache``, where that runs."""

C = TypeVar("C", bound=Sequence[Any])


def selected_cases() -> dict[str, list[list[str]]] | None:
    """Return the cases that will use this ``setup_cache``, or ``None`` where nothing names them.

    Returns:
        ``suite.Class`` to the values of its cases' parameters, as asv writes them.
    """
    file = Path(_CASES)
    if not file.exists():
        return None
    cases: dict[str, list[list[str]]] = json.loads(file.read_text(encoding="utf-8"))
    return cases


def selected_of(suite: type, cases: Iterable[C]) -> list[C]:
    """Return those of a suite's cases that this run measures: all where nothing names them."""
    selected = selected_cases()
    if selected is None:
        return list(cases)
    name = f"{suite.__module__}.{suite.__qualname__}".partition(".")[2]
    of_suite = selected.get(name, [])
    return [case for case in cases if list(map(repr, case)) in of_suite]
