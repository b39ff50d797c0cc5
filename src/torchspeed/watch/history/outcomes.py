"""How each case of a run went: the ``.outcomes.jsonl`` beside a result file.

asv stores figures, but not why there is none. One JSON object a line says it:
``{"case": "suite.Class.time_x('darnn', 'cpu')", "outcome": "timed out",
"reason": "...", "at": 1785000000}``. A later line about the same case wins. There is a line for
each round; where it added samples to the stored ones, ``"samples"`` counts them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torchspeed.watch.history.json_lines import read_lines, seconds
from torchspeed.watch.history.records import Outcome, Problem

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
    entries, problems = read_lines(path)
    reports: dict[str, Report] = {}
    for number, entry in entries:
        report = _report(entry)
        if report is None:
            problems.append(
                Problem(str(path), f"line {number} is no outcome of a case; it was left out")
            )
        else:
            reports[entry["case"]] = report
    return reports, problems


def _report(entry: Any) -> Report | None:
    if not isinstance(entry, dict) or not isinstance(entry.get("case"), str):
        return None
    outcome = entry.get("outcome")
    reason = entry.get("reason") or ""
    if not isinstance(outcome, str) or outcome not in _OUTCOMES or not isinstance(reason, str):
        return None
    return Report(_OUTCOMES[outcome], reason, seconds(entry.get("at")))
