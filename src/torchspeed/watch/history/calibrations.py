"""What `make calibrate` found out about a machine: ``results/<machine>/calibration.jsonl``.

One JSON object a line, a line for each calibration, the newest last. The name does not end
in ``.json``, for asv takes every such file for results.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

from torchspeed.watch.history.json_lines import append_lines, read_lines
from torchspeed.watch.history.records import Problem

FILE_NAME = "calibration.jsonl"
NOISE_TARGET = 0.01
"""Standard deviation of the ratio of two runs that an idle machine should keep."""
WORST_TARGET_IDLE = 0.03
WORST_TARGET_LOADED = 0.06
"""With its other cores busy."""
IDLE_BELOW = 0.25
"""Cores that others keep busy, up to which a machine counts as idle."""
_FORMAT = 1

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Finding:
    """Something about a machine that bears on its timings."""

    what: str
    """Such as ``frequency governor``."""
    state: str
    """What it is set to, or how much there is of it."""
    hurts: bool
    remedy: str = ""
    """One line; empty where nothing hurts."""


@dataclass(frozen=True, slots=True)
class Load:
    """What else the machine did."""

    before: float
    """Load average over the minute before."""
    others: float
    """Cores that other processes kept busy during the runs, on average."""
    stolen: float
    """Share of all cores' time that the hypervisor gave to others during the runs."""


@dataclass(frozen=True, slots=True)
class CaseNoise:
    """One case over several runs of one commit."""

    case: str
    figures: tuple[float, ...]
    """In the benchmark's unit, one a run."""
    samples: int
    """The fewest samples that a run has."""
    noise: float
    """Standard deviation of the logarithm of the ratio of two runs (0.01 is 1 %)."""
    worst: float
    """The highest figure over the lowest, less one."""
    sees: float | None
    """Smallest relative slowdown found in every pair of runs; ``None`` in old files."""


@dataclass(frozen=True, slots=True)
class CaseTurns:
    """One case in several comparisons of a commit with itself."""

    case: str
    rounds: int
    """Of the first comparison."""
    noise: float
    """Standard deviation of the logarithm of the ratio (0.01 is 1 %)."""
    worst: float
    """How far the ratio farthest from 1 lies from it, as the slower over the faster."""
    sees: float
    """Smallest relative slowdown found on either side of every comparison."""


@dataclass(frozen=True, slots=True)
class RepeatedComparisons:
    """All cases that have a figure in every comparison."""

    repeats: int
    """How often the commit was compared with itself."""
    seconds: float
    """What all of that took."""
    cases: tuple[CaseTurns, ...]
    false_alarms: int
    """How many ratios are called a difference."""

    @property
    def ratios(self) -> int:
        """Of every case in every comparison."""
        return self.repeats * len(self.cases)

    @property
    def noise(self) -> float:
        """Of all cases together: the root of the mean square."""
        return math.sqrt(sum(case.noise**2 for case in self.cases) / len(self.cases))

    @property
    def worst(self) -> float:
        """Of all cases."""
        return max(one.worst for one in self.cases)


@dataclass(frozen=True, slots=True)
class Calibration:
    """One calibration of one machine."""

    at: int
    """When it ended, seconds since the epoch."""
    commit: str
    torch: str
    torchvision: str
    runs: int
    seconds: float
    """What all runs took."""
    load: Load
    noise: float
    """Of all cases together, see `torchspeed.watch.turns.repeated_runs`."""
    worst: float
    comparisons: int
    false_alarms: int
    cases: tuple[CaseNoise, ...]
    without_figure: tuple[str, ...]
    findings: tuple[Finding, ...]
    side_by_side: RepeatedComparisons | None = None
    """The commit compared with itself; ``None`` where that was not measured."""

    @property
    def idle(self) -> bool:
        """Whether nothing else of note ran."""
        return self.load.others < IDLE_BELOW

    @property
    def steady(self) -> bool:
        """Whether runs one after the other meet the targets: an idle machine's, or a loaded's."""
        return self._meets(self.noise, self.worst)

    @property
    def steady_side_by_side(self) -> bool:
        """Whether comparisons side by side do."""
        one = self.side_by_side
        return one is not None and self._meets(one.noise, one.worst)

    def beside(self, case: str) -> CaseTurns | None:
        """What comparisons side by side say of a case, by its name."""
        turns = self.side_by_side.cases if self.side_by_side else ()
        return next((one for one in turns if one.case == case), None)

    def _meets(self, noise: float, worst: float) -> bool:
        if self.idle:
            return noise <= NOISE_TARGET and worst <= WORST_TARGET_IDLE
        return worst <= WORST_TARGET_LOADED


def append_calibration(path: Path, calibration: Calibration) -> None:
    """Add a line to a machine's file."""
    append_lines(path, [{"format": _FORMAT, **asdict(calibration)}])


def read_calibrations(path: Path) -> tuple[tuple[Calibration, ...], tuple[Problem, ...]]:
    """Read a machine's file, oldest first, and a problem for each line that is damaged."""
    entries, problems = read_lines(path)
    found = []
    for number, entry in entries:
        try:
            found.append(_calibration(entry))
        except (ValueError, KeyError, TypeError):
            problems.append(
                Problem(str(path), f"line {number} is no calibration; it was left out")
            )
    return tuple(found), tuple(problems)


def _calibration(stored: Any) -> Calibration:
    if stored["format"] != _FORMAT:
        raise ValueError("it was written by another version")
    cases = _all(stored["cases"], _case)
    if not cases:
        raise ValueError("it has no case")
    return Calibration(
        at=_count(stored["at"]),
        commit=_text(stored["commit"]),
        torch=_text(stored["torch"]),
        torchvision=_text(stored["torchvision"]),
        runs=_count(stored["runs"]),
        seconds=_number(stored["seconds"]),
        load=Load(*(_number(stored["load"][name]) for name in ("before", "others", "stolen"))),
        noise=_number(stored["noise"]),
        worst=_number(stored["worst"]),
        comparisons=_count(stored["comparisons"]),
        false_alarms=_count(stored["false_alarms"]),
        cases=cases,
        without_figure=_all(stored["without_figure"], _text),
        findings=_all(stored["findings"], _finding),
        side_by_side=_comparisons(stored.get("side_by_side")),
    )


def _comparisons(stored: Any) -> RepeatedComparisons | None:
    if stored is None:
        return None  # from before it was measured, or interrupted
    cases = _all(stored["cases"], _turns)
    if not cases:
        raise ValueError("it has no case side by side")
    return RepeatedComparisons(
        repeats=_count(stored["repeats"]),
        seconds=_number(stored["seconds"]),
        cases=cases,
        false_alarms=_count(stored["false_alarms"]),
    )


def _turns(stored: dict[str, Any]) -> CaseTurns:
    return CaseTurns(
        case=_text(stored["case"]),
        rounds=_count(stored["rounds"]),
        noise=_number(stored["noise"]),
        worst=_number(stored["worst"]),
        sees=_number(stored["sees"]),
    )


def _case(stored: dict[str, Any]) -> CaseNoise:
    sees = stored["sees"]
    return CaseNoise(
        case=_text(stored["case"]),
        figures=_all(stored["figures"], _number),
        samples=_count(stored["samples"]),
        noise=_number(stored["noise"]),
        worst=_number(stored["worst"]),
        sees=None if sees is None else _number(sees),
    )


def _finding(stored: dict[str, Any]) -> Finding:
    if not isinstance(stored["hurts"], bool):
        raise TypeError("hurts is true or false")
    return Finding(
        _text(stored["what"]), _text(stored["state"]), stored["hurts"], _text(stored["remedy"])
    )


def _all(stored: Any, read: Callable[[Any], T]) -> tuple[T, ...]:
    if not isinstance(stored, list):
        raise TypeError("not a list")
    return tuple(read(one) for one in stored)


def _text(stored: Any) -> str:
    if not isinstance(stored, str):
        raise TypeError("not a text")
    return stored


def _number(stored: Any) -> float:
    if isinstance(stored, bool) or not isinstance(stored, int | float):
        raise TypeError("not a number")
    if not math.isfinite(stored):
        raise ValueError("not finite")
    return float(stored)


def _count(stored: Any) -> int:
    if isinstance(stored, bool) or not isinstance(stored, int) or not 0 <= stored < 10**12:
        raise TypeError("not a count")
    return stored
