"""The files beside asv's result files: a JSON object a line, later lines newer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from torchspeed.history.records import Problem


def read_lines(path: Path) -> tuple[list[tuple[int, Any]], list[Problem]]:
    """Read line numbers and contents; ``None`` is the content of a line that is no JSON.

    A file that cannot be read is a problem, and has no lines.
    """
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        return [], [Problem(str(path), f"cannot be read: {error.strerror}")]
    numbered = [(number, line) for number, line in enumerate(lines, start=1) if line.strip()]
    try:
        # One call for all lines takes a third of the time of one call a line.
        entries = json.loads(b"[" + b",".join(line for _, line in numbered) + b"]")
    except (ValueError, RecursionError):
        entries = []
    if len(entries) != len(numbered):
        entries = [_loads(line) for _, line in numbered]
    return [(number, entry) for (number, _), entry in zip(numbered, entries, strict=True)], []


def _loads(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def seconds(stored: Any) -> int | None:
    """A stored time, seconds since the epoch; ``None`` for what cannot be one."""
    return int(stored) if isinstance(stored, (int, float)) and abs(stored) < 1e12 else None
