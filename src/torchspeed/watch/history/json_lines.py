"""The files beside asv's result files: a JSON object a line, later lines newer."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from torchspeed.watch.history.files import append_durably
from torchspeed.watch.history.reading import read_regular
from torchspeed.watch.history.records import Problem


def read_lines(path: Path) -> tuple[list[tuple[int, Any]], list[Problem]]:
    """Read line numbers and contents; ``None`` is the content of a line that is no JSON.

    A file that cannot be read is a problem, and has no lines.
    """
    try:
        content = read_regular(path)
    except OSError as error:
        return [], [Problem(str(path), f"cannot be read: {error.strerror}")]
    if b"\0" in content[:4]:  # further on, a loss of power may have left one in a line
        return [], [Problem(str(path), "it is no UTF-8 text; it was left out")]
    lines = content.split(b"\n")
    numbered = [(number, line) for number, line in enumerate(lines, start=1) if line.strip()]
    try:
        # One call for all lines takes a third of the time of one call a line.
        entries = json.loads(b"[" + b",".join(line for _, line in numbered) + b"]")
    except (ValueError, RecursionError):
        entries = []
    if len(entries) != len(numbered):
        entries = [_loads(line) for _, line in numbered]
    return [(number, entry) for (number, _), entry in zip(numbered, entries, strict=True)], []


def append_lines(path: Path, entries: Iterable[Any]) -> None:
    """Add a line for each entry, and wait until they are stored.

    Raises:
        OSError: The disk is full, or the file cannot be written.
    """
    lines = [json.dumps(entry, ensure_ascii=False).encode() + b"\n" for entry in entries]
    append_durably(path, b"".join(lines))


def _loads(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def seconds(stored: Any) -> int | None:
    """A stored time, seconds since the epoch; ``None`` for what cannot be one."""
    return int(stored) if isinstance(stored, (int, float)) and abs(stored) < 1e12 else None
