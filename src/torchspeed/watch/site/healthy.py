"""A view of a results folder without what is damaged in it, for readers that would break.

Sound files are linked, not copied: a view of a thousand files costs milliseconds.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from torchspeed.watch.history.records import Problem


def write_view(results: Path, view: Path, problems: Iterable[Problem]) -> None:
    """Write into `view` what is sound in `results`.

    Args:
        results: asv's results folder.
        view: An empty folder, or one to be made.
        problems: Each names a file that is damaged: of a result file what can be
            saved is kept, with `null` for figures that are no finite numbers;
            what is no JSON at all is left out.
    """
    damaged = {Path(problem.path) for problem in problems}
    for root, _, files in os.walk(results):
        there = view / os.path.relpath(root, results)
        there.mkdir(parents=True, exist_ok=True)
        for name in files:
            path = Path(root) / name
            if path not in damaged:
                (there / name).symlink_to(path.resolve())
            else:
                _write_sound(path, there / name)


def _write_sound(path: Path, target: Path) -> None:
    try:
        content = json.loads(path.read_bytes())
    except (ValueError, OSError, RecursionError):
        content = None
    if path.name == "machine.json" and not _names_a_machine(content):
        content = {"machine": path.parent.name, "version": 1}
    if not isinstance(content, dict):
        return
    rows = content.get("results")
    if isinstance(rows, dict):
        content["results"] = {name: _sound_row(row) for name, row in rows.items() if _is_row(row)}
    target.write_text(json.dumps(content), encoding="utf-8")


def _names_a_machine(content: Any) -> bool:
    return isinstance(content, dict) and isinstance(content.get("machine"), str)


def _is_row(row: Any) -> bool:
    return isinstance(row, list) and bool(row) and (row[0] is None or isinstance(row[0], list))


def _sound_row(row: list[Any]) -> list[Any]:
    figures = None if row[0] is None else [_sound(figure) for figure in row[0]]
    return [figures, *row[1:]]


def _sound(figure: Any) -> Any:
    is_number = isinstance(figure, (int, float)) and not isinstance(figure, bool)
    return figure if is_number and not math.isinf(figure) else None
