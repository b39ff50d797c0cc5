"""Measures cases round after round, and keeps their rounds so that a second start continues.

A round of every case comes before the next round of any, so that minutes lie between two rounds of
one case. Each round has processes of its own on all sides, because the layout of memory, and with
it the speed, differs from process to process.

The file of an unfinished measurement is named for its versions, suites, machine and reason, and
removed when it is finished. A file older than a day is ignored, because the machine may have
changed.
"""

import contextlib
import dataclasses
import hashlib
import itertools
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from asv_watch.comparison import Comparison, Kind, Sitting, Time
from asv_watch.engine import processes
from asv_watch.engine.cases import MeasurableCase
from asv_watch.engine.rounds import DEFAULT, KeepCase, RoundsOfCases, Sampling
from asv_watch.engine.workplace import Side, Workplace
from asv_watch.errors import MachineError
from asv_watch.machine.budget import Budget
from asv_watch.progress import Display, human_time, time_left
from asv_watch.records.store import append_lines, read_stored

_FEWEST_ROUNDS_OF_VALUES = 3
KeepRound = Callable[[MeasurableCase, processes.Round], None]


def measure_cases(
    sides: Sequence[Side],
    cases: Sequence[MeasurableCase],
    keep: KeepCase = lambda result: None,
    sampling: Sampling = DEFAULT,
    kept: Mapping[str, Sequence[processes.Round]] = {},
    keep_round: KeepRound = lambda case, numbers: None,
    budget: Budget | None = None,
    later: int = 0,
) -> list[Comparison]:
    """Measure cases of all sides, those that time something first, one suite after the other.

    Args:
        sides: the versions; each is compared with the next.
        cases: what to measure.
        keep: called with each case that is finished. An interrupt first finishes the cases
            that have rounds enough.
        sampling: how many rounds each case gets.
        kept: rounds of an earlier start, by case.
        keep_round: called with each round.
        budget: time limit that these cases share with others; the time left is no longer.
        later: how many rounds other cases will take afterwards, for the estimate of the time left.

    Returns:
        The cases in the order in which they were finished.

    Raises:
        MachineError: the machine is to blame, such as a full disk; finished cases are kept.
    """
    timed = _suite_by_suite([case for case in cases if case.is_timed])
    others = [case for case in cases if not case.is_timed]
    others.sort(key=lambda case: case.process)
    few = min(sampling.fewest_rounds, _FEWEST_ROUNDS_OF_VALUES)
    sampling_of_others = dataclasses.replace(sampling, fewest_rounds=few)
    results = []
    later += sum(other.rounds if len(sides) == 1 else few for other in others)
    for group, limits, left in ((timed, sampling, later), (others, sampling_of_others, 0)):
        if group:
            rounds = RoundsOfCases(group, len(sides), limits, keep, kept)
            results += _measure_group(sides, rounds, keep_round, budget, left)
    return results


def _suite_by_suite(cases: Sequence[MeasurableCase]) -> list[MeasurableCase]:
    """Put cases of one suite side by side; a side imports a suite again after another one.

    Suites come in the order of their first cases, and so do the classes of a suite.
    """
    first: dict[str, int] = {}
    keys = []
    for index, case in enumerate(cases):
        names = itertools.accumulate(case.identity.split(".")[:-1], "{}.{}".format)
        keys.append((case.process, [*(first.setdefault(name, index) for name in names), index]))
    return [cases[indices[-1]] for _, indices in sorted(keys)]


def _measure_group(
    sides: Sequence[Side],
    measured: RoundsOfCases,
    keep_round: KeepRound,
    budget: Budget | None,
    later: int,
) -> list[Comparison]:
    started, count = time.monotonic(), 0
    took_s: dict[MeasurableCase, float] = {}
    begun = max(len(opened.rounds) for opened in measured.open.values())
    measured.close_known()
    with (
        tempfile.TemporaryDirectory(prefix="asv-watch-") as folder,
        measured.keeping(),
        Display() as display,
    ):
        folders = [Path(folder, chr(ord("a") + index)) for index in range(len(sides))]
        shared: Sequence[str] = ()
        for number in itertools.count(begun):
            if not measured.open:
                break
            cases = list(measured.open)
            for path in folders:
                if not cases[0].is_timed:  # else a value of `setup_cache` would seem exact
                    shutil.rmtree(path, ignore_errors=True)
                path.mkdir(exist_ok=True)
            preload = sides[0].environment.declared.preloaded_for(case.name for case in cases)
            with contextlib.ExitStack() as stack:
                servers = [
                    stack.enter_context(
                        processes.SideProcess(side, path, number + 1, len(sides), preload, shared)
                    )
                    for side, path in zip(sides, folders, strict=True)
                ]
                for index, case in enumerate(cases, start=1):
                    began = time.monotonic()
                    message = _measure(measured, servers, case, number, keep_round)
                    count, took_s[case] = count + 1, time.monotonic() - began
                    left, mean_s = measured.rounds_left(), statistics.fmean(took_s.values())
                    left_s = later * mean_s
                    left_s += sum(left[other] * took_s.get(other, mean_s) for other in left)
                    words = f", {human_time(left_s)} left" if left_s else ""
                    if budget is not None and budget.left_s < left_s:
                        words = f", {time_left(budget)}"
                    display.step(
                        f"round {number + 1} [{index:{len(str(len(cases)))}}/{len(cases)}] "
                        f"{case.name}  {message}{words}",
                        done=count,
                        total=count + sum(left.values()) + later,
                    )
            if number == begun:
                shared = processes.imported_by_all(servers)
            elif any(None in server.imported for server in servers):
                shared = ()
            measured.close_known()
        display.say(f"  done in {human_time(time.monotonic() - started)}")
    return measured.results


def _measure(
    measured: RoundsOfCases,
    servers: Sequence[processes.SideProcess],
    case: MeasurableCase,
    number: int,
    keep_round: KeepRound,
) -> str:
    """Measure a round of a case and return its ratios in words.

    If a side is skipped or fails, the others are measured without it, if at least two are left.
    """
    message = ""
    while case in measured.open:
        active = measured.active(case)
        try:
            numbers = processes.measure_round(
                [servers[index] for index in active], case, number=number
            )
        except processes.UnmeasuredError as reason:
            side = next(index for index in active if servers[index] is reason.server)
            measured.leave_out(case, side, reason)
            word = "skipped" if isinstance(reason, processes.CaseSkippedError) else "failed"
            message = f"{word}: {reason}"
        except MachineError as error:
            raise MachineError(f"{case.name} on {error}") from error
        else:
            by_side = dict(zip(active, numbers, strict=True))
            round_numbers: processes.Round = tuple(
                by_side.get(index) for index in range(len(servers))
            )
            keep_round(case, round_numbers)
            return measured.add(case, round_numbers)
    return message


_OLDEST_S = 24 * 3600.0
FIRST_TOGETHER, MOST_TOGETHER = 5, 20
"""Number of cases whose rounds alternate if the time is limited: at first, when nothing tells how
many fit into it, and at most. Each round of a group starts processes and imports anew."""
_ALONE_S = 240.0
"""Seconds after which the first cases of a single version should be finished, and the next ones
begin, so that there is something to show (`asv_watch.bench.EARLY_S`)."""


class _KeptRound(msgspec.Struct, frozen=True):
    at: Time
    """When the sitting began, seconds since the epoch: the record has its finished cases."""
    case: str
    numbers: processes.Round


class Unfinished:
    """The rounds of one measurement that were kept, by case."""

    def __init__(self, folder: Path, sides: Sequence[Side], *identity: str) -> None:
        """Read what an earlier start kept in the folder; ``identity`` also distinguishes it."""
        self._sides = sides
        key = hashlib.sha256()
        for part in (*identity, *sides):
            key.update(repr(part).encode())
        for path in sorted(sides[0].suites.rglob("*.py")):
            key.update(path.read_bytes())
        self._path = folder / f"{key.hexdigest()[:16]}.jsonl"
        self._at = 0
        self.rounds: dict[str, list[processes.Round]] = {}
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
        is_alone = len(self._sides) == 1
        rounds = {case: case.rounds if is_alone else sampling.fewest_rounds for case in cases}
        left = sum(rounds.values())
        for group in self._groups(cases, budget):
            left -= sum(map(rounds.__getitem__, group))
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
                fitting = int(left_s / mean_s) if done else FIRST_TOGETHER
                count = max(1, min(fitting, count if budget is None else MOST_TOGETHER))
            yield cases[done : done + count]
            done += count

    def keep(self, case: str, numbers: processes.Round) -> None:
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
