"""Keeps the rounds of an unfinished measurement, so that a second start continues it.

Their file is named for the versions, suites, machine and reason of the measurement, and removed
when that is finished. A file older than a day is ignored, because the machine may have changed.
"""

import hashlib
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from asv_watch.comparison import Comparison, Kind, Sitting, Time
from asv_watch.engine.cases import MeasurableCase
from asv_watch.engine.processes import Round
from asv_watch.engine.rounds import DEFAULT, KeepCase, RoundsOfCases, Sampling, measure_cases
from asv_watch.engine.sides import Side
from asv_watch.engine.workplace import Workplace
from asv_watch.machine.budget import Budget
from asv_watch.records.store import append_lines, read_stored

_OLDEST_S = 24 * 3600.0
_FIRST_TOGETHER, _MOST_TOGETHER = 5, 20
"""Number of cases whose rounds alternate if the time is limited: at first, and at most. Each round
of a group starts processes and imports anew."""
_ALONE_S = 240.0
"""Seconds after which the first cases of a single version should be finished, and the next ones
begin, so that there is something to show (`asv_watch.bench.EARLY_S`)."""


class _KeptRound(msgspec.Struct, frozen=True):
    """A line of the file."""

    at: Time
    """When the sitting began, seconds since the epoch: the record has its finished cases."""
    case: str
    numbers: Round


class Unfinished:
    """The rounds of one measurement that were kept, by case."""

    def __init__(self, folder: Path, sides: Sequence[Side], *identity: str) -> None:
        """Read what an earlier start kept.

        Args:
            folder: where the files of all unfinished measurements are.
            sides: the versions that are measured.
            identity: what else distinguishes this measurement.
        """
        self._sides = sides
        key = hashlib.sha256()
        for part in (*identity, *sides):
            key.update(repr(part).encode())
        for path in sorted(sides[0].suites.rglob("*.py")):
            key.update(path.read_bytes())
        self._path = folder / f"{key.hexdigest()[:16]}.jsonl"
        self._at = 0
        self.rounds: dict[str, list[Round]] = {}
        """Maps a case to its rounds."""
        if self._path.exists() and time.time() - self._path.stat().st_mtime < _OLDEST_S:
            for kept in read_stored(self._path, _KeptRound, "round")[0]:
                self._at = kept.at
                # A round in which a side gave no number is measured again.
                if len(kept.numbers) == len(sides) and all(kept.numbers):
                    self.rounds.setdefault(kept.case, []).append(kept.numbers)
        else:
            self.forget()

    def continued(self, sitting: Sitting) -> Sitting:
        """Return the sitting that an earlier start began, or this one if there is none."""
        self._at = self._at or sitting.at
        return msgspec.structs.replace(sitting, at=self._at)

    def measure(
        self,
        cases: Sequence[MeasurableCase],
        keep: KeepCase,
        sampling: Sampling = DEFAULT,
        budget: Budget | None = None,
    ) -> None:
        """Measure cases as `measure_cases` does, beginning with the rounds that were kept."""
        rounds_of = {case: case.rounds if len(self._sides) == 1 else 5 for case in cases}
        left = sum(rounds_of.values())
        for group in self._groups(cases, budget):
            left -= sum(map(rounds_of.__getitem__, group))
            measure_cases(
                self._sides,
                group,
                keep,
                sampling,
                self.rounds,
                lambda case, numbers: self.keep(case.name, numbers),
                budget,
                left,
            )
        self.forget()

    def so_far(
        self, cases: Sequence[MeasurableCase], sampling: Sampling = DEFAULT
    ) -> list[Comparison]:
        """Return what the rounds tell of cases that are not finished; a single one tells nothing.

        Nothing is stored, because these cases get further rounds when they are measured again.
        """
        begun = [case for case in cases if len(self.rounds.get(case.name, ())) > 1]
        rounds = RoundsOfCases(begun, len(self._sides), sampling, lambda _: None, self.rounds)
        rounds.close_all()
        return rounds.results

    def _groups(
        self, cases: Sequence[MeasurableCase], budget: Budget | None
    ) -> Iterator[Sequence[MeasurableCase]]:
        """Divide cases of a single version, or whose time is limited.

        A group is finished before the next one begins. It has as many cases as are expected to be
        finished in time.
        """
        started, done = time.monotonic(), 0
        while done < len(cases):
            count = len(cases)
            if budget is not None or len(self._sides) == 1:
                mean_s = (time.monotonic() - started) / max(1, done)
                left_s = _ALONE_S if budget is None else budget.left_s
                fitting = int(left_s / mean_s) if done else _FIRST_TOGETHER
                count = max(1, min(fitting, count if budget is None else _MOST_TOGETHER))
            yield cases[done : done + count]
            done += count

    def keep(self, case: str, numbers: Round) -> None:
        """Store a round, and wait until it is on the disk."""
        append_lines(self._path, [_KeptRound(self._at, case, numbers)])
        self.rounds.setdefault(case, []).append(numbers)

    def forget(self) -> None:
        """Remove the rounds: the measurement is finished."""
        self._path.unlink(missing_ok=True)
        self.rounds = {}


def find_unfinished(workplace: Workplace, sides: Sequence[Side], kind: Kind) -> Unfinished:
    """Return what an earlier start of a measurement kept."""
    folder = workplace.configuration.work_folder / "unfinished"
    return Unfinished(folder, sides, workplace.machine, kind)
