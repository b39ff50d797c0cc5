"""Calibrations of a machine (`make calibrate`): ``results/<machine>/calibration.jsonl``.

One JSON object a line, a line for each calibration, the newest last. The name does not end
in ``.json``, because asv takes such files for results.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from asv_watch.records.json_lines import read_stored
from asv_watch.records.records import Problem

FILE_NAME = "calibration.jsonl"
NOISE_TARGET = 0.01
"""Standard deviation of the ratio of two runs that an idle machine should keep."""
WORST_TARGET_IDLE = 0.03
WORST_TARGET_LOADED = 0.06
"""With its other cores busy."""
IDLE_BELOW = 0.25
"""Cores that others keep busy, up to which a machine counts as idle."""

Count = Annotated[int, msgspec.Meta(ge=0, lt=10**12)]


class Finding(msgspec.Struct, frozen=True):
    """Something about a machine that bears on its timings."""

    what: str
    """Such as ``frequency governor``."""
    state: str
    """What it is set to, or how much there is of it."""
    hurts: bool
    remedy: str = ""
    """One line; empty where nothing hurts."""


class Load(msgspec.Struct, frozen=True):
    """What else the machine did."""

    before: float
    """Load average over the minute before."""
    others: float
    """Cores that other processes kept busy during the runs, on average."""
    stolen: float
    """Share of all cores' time that the hypervisor gave to others during the runs."""


class CaseNoise(msgspec.Struct, frozen=True):
    """One case over several runs of one commit."""

    case: str
    values: tuple[float, ...] = msgspec.field(name="figures")
    """The value of each run, in the benchmark's unit."""
    samples: Count
    """The fewest samples that a run has."""
    noise: float
    """Standard deviation of the logarithm of the ratio of two runs (0.01 is 1 %)."""
    worst: float
    """The highest value over the lowest, less one."""
    detectable: float | None = msgspec.field(name="sees")
    """Smallest relative slowdown found in all pairs of runs; ``None`` where it is above 100 %."""


class RepeatedComparison(msgspec.Struct, frozen=True):
    """Ratios of one case from repeated comparisons of a commit with itself (A/A)."""

    case: str
    rounds: Count
    """Number of rounds of the first comparison."""
    noise: float
    """Standard deviation of the logarithm of the ratio (0.01 is 1 %)."""
    worst: float
    """How far the ratio farthest from 1 lies from it, as the slower over the faster."""
    detectable: float = msgspec.field(name="sees")
    """Smallest relative slowdown found on either side of all comparisons."""


class RepeatedComparisons(msgspec.Struct, frozen=True):
    """All cases that have a ratio in every comparison."""

    repeats: Count
    """How often the commit was compared with itself."""
    seconds: float
    """Duration of all comparisons."""
    cases: Annotated[tuple[RepeatedComparison, ...], msgspec.Meta(min_length=1)]
    false_alarms: Count
    """How many ratios are called a difference."""

    @property
    def ratios(self) -> int:
        """Number of ratios: of all cases in all comparisons."""
        return self.repeats * len(self.cases)

    @property
    def noise(self) -> float:
        """Noise of all cases together: the root of the mean square."""
        return math.sqrt(sum(case.noise**2 for case in self.cases) / len(self.cases))

    @property
    def worst(self) -> float:
        """The worst of all cases."""
        return max(case.worst for case in self.cases)


class Calibration(msgspec.Struct, frozen=True):
    """One calibration of one machine."""

    at: Count
    """When it ended, seconds since the epoch."""
    commit: str
    torch: str
    torchvision: str
    runs: Count
    seconds: float
    """Duration of all runs."""
    load: Load
    noise: float
    """Of all cases together, see `asv_watch.calibrate.repeated_runs`."""
    worst: float
    comparisons: Count
    false_alarms: Count
    cases: Annotated[tuple[CaseNoise, ...], msgspec.Meta(min_length=1)]
    without_value: tuple[str, ...] = msgspec.field(name="without_figure")
    findings: tuple[Finding, ...]
    interleaved: RepeatedComparisons | None = msgspec.field(name="side_by_side", default=None)
    """The commit compared with itself, interleaved; ``None`` where that was not measured."""
    format: Literal[1] = 1

    @property
    def idle(self) -> bool:
        """Whether nothing else of note ran."""
        return self.load.others < IDLE_BELOW

    @property
    def steady(self) -> bool:
        """Whether runs one after the other meet the targets: an idle machine's, or a loaded's."""
        return self._meets(self.noise, self.worst)

    @property
    def steady_interleaved(self) -> bool:
        """Whether interleaved comparisons do."""
        repeated = self.interleaved
        return repeated is not None and self._meets(repeated.noise, repeated.worst)

    def interleaved_case(self, case: str) -> RepeatedComparison | None:
        """Return the interleaved comparisons of a case, by its name."""
        cases = self.interleaved.cases if self.interleaved else ()
        return next((repeated for repeated in cases if repeated.case == case), None)

    def _meets(self, noise: float, worst: float) -> bool:
        if self.idle:
            return noise <= NOISE_TARGET and worst <= WORST_TARGET_IDLE
        return worst <= WORST_TARGET_LOADED


def read_calibrations(path: Path) -> tuple[tuple[Calibration, ...], tuple[Problem, ...]]:
    """Read a machine's file, oldest first, and a problem for each line that is damaged."""
    return read_stored(path, Calibration, "calibration")
