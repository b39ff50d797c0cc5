"""How each case of a run went: the ``.outcomes.jsonl`` beside a result file.

asv stores figures, but not why there is none. One JSON object a line says it:
``{"case": "suite.Class.time_x('darnn', 'cpu')", "outcome": "timed out",
"reason": "...", "at": 1785000000}``. A later line about the same case wins.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torchspeed.history.records import Outcome, Problem

SUFFIX = ".outcomes.jsonl"
_OUTCOMES = {outcome.value: outcome for outcome in Outcome}


@dataclass(frozen=True, slots=True)
class Report:
    """What a run said about one case."""

    outcome: Outcome
    reason: str
    at: int | None


def read_outcomes(path: Path) -> tuple[dict[str, Report], list[Problem]]:
    """Read a sidecar: case name to its last report, and a problem for each bad line."""
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        return {}, [Problem(str(path), f"cannot be read: {error.strerror}")]
    reports: dict[str, Report] = {}
    problems: list[Problem] = []
    for number, entry in _entries(lines):
        report = _report(entry)
        if report is None:
            problems.append(
                Problem(str(path), f"line {number} is no outcome of a case; it was left out")
            )
        else:
            reports[entry["case"]] = report
    return reports, problems


def _entries(lines: list[bytes]) -> list[tuple[int, Any]]:
    """Line number and content; ``None`` for a line that is no JSON."""
    numbered = [(number, line) for number, line in enumerate(lines, start=1) if line.strip()]
    try:
        # One call for all lines takes a third of the time of one call a line.
        entries = json.loads(b"[" + b",".join(line for _, line in numbered) + b"]")
    except (ValueError, RecursionError):
        entries = []
    if len(entries) != len(numbered):
        entries = [_loads(line) for _, line in numbered]
    return [(number, entry) for (number, _), entry in zip(numbered, entries, strict=True)]


def _loads(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _report(entry: Any) -> Report | None:
    if not isinstance(entry, dict) or not isinstance(entry.get("case"), str):
        return None
    outcome = entry.get("outcome")
    reason = entry.get("reason") or ""
    at = entry.get("at")
    if not isinstance(outcome, str) or outcome not in _OUTCOMES or not isinstance(reason, str):
        return None
    ran_at = int(at) if isinstance(at, (int, float)) and abs(at) < 1e12 else None
    return Report(_OUTCOMES[outcome], reason, ran_at)
