"""Measures cases round after round and stores them; keeps rounds so that a second start continues.

A round of every case comes before the next round of any, so that minutes lie between two rounds of
one case. Each round has processes of its own on all sides, because the layout of memory, and with
it the speed, differs from process to process.

The file of an unfinished measurement is named for its versions, suites, machine and reason, and
removed when it is finished. A file older than a day is ignored, because the machine may have
changed.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import itertools
import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import msgspec

from asv_watch.comparison import Comparison, Conditions, Kind, Outcome, Ratio, Sitting, Time
from asv_watch.engine import processes
from asv_watch.engine.cases import MeasurableCase
from asv_watch.engine.rounds import DEFAULT, KeepCase, KeepRound, RoundsOfCases, Sampling
from asv_watch.engine.workplace import Side, Workplace
from asv_watch.errors import MachineError, WatchError
from asv_watch.machine.budget import Budget, run_within
from asv_watch.machine.facts import machine_state
from asv_watch.progress import Display, human_time, time_left
from asv_watch.records.store import SittingWriter, append_lines, read_record, read_stored
from asv_watch.statistics.ratio import ESTIMATE

_FEWEST_ROUNDS_OF_VALUES = 3


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

    ``keep`` is called with each finished case, and an interrupt first finishes those that have
    rounds enough; ``keep_round`` is called with each round. ``kept`` are the rounds of an earlier
    start, by case. The time left that is shown counts the ``later`` rounds of other cases, and is
    no longer than what is left of the ``budget``. Cases are returned as they were finished.

    Raises:
        MachineError: the machine is to blame, such as a full disk; finished cases are kept.
    """
    timed = _suite_by_suite([case for case in cases if case.is_timed])
    others = [case for case in cases if not case.is_timed]
    others.sort(key=lambda case: case.process)
    few = min(sampling.fewest_rounds, _FEWEST_ROUNDS_OF_VALUES)
    sampling_of_others = dataclasses.replace(sampling, fewest_rounds=few)
    results = []
    later += sum(sampling_of_others.fewest_rounds_of(case, len(sides)) for case in others)
    for group, limits, left in ((timed, sampling, later), (others, sampling_of_others, 0)):
        if group:
            rounds = RoundsOfCases(group, len(sides), limits, keep, kept, keep_round)
            results += _measure_group(sides, rounds, budget, left)
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
    sides: Sequence[Side], measured: RoundsOfCases, budget: Budget | None, later: int
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
                        processes.SideProcess(side, path, number + 1, preload, shared)
                    )
                    for side, path in zip(sides, folders, strict=True)
                ]
                for index, case in enumerate(cases, start=1):
                    began = time.monotonic()
                    message = _measure(measured, servers, case, number)
                    count, took_s[case] = count + 1, time.monotonic() - began
                    left = {other: measured.rounds_left(other) for other in measured.open}
                    mean_s = statistics.fmean(took_s.values())
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
            word = "skipped" if reason.outcome is Outcome.SKIPPED else "failed"
            message = f"{word}: {reason}"
        except MachineError as error:
            raise MachineError(f"{case.name} on {error}") from error
        else:
            by_side = dict(zip(active, numbers, strict=True))
            return measured.add(case, tuple(map(by_side.get, range(len(servers)))))
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
        rounds = {case: sampling.fewest_rounds_of(case, len(self._sides)) for case in cases}
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


@dataclass(frozen=True, slots=True)
class Compared:
    """The result of a measurement, as a comparison of two of its versions."""

    cases: tuple[Comparison, ...]
    before: int
    """Index of a version."""
    after: int
    record: Path | None
    """File of the record; ``None`` if a side is not committed, so that nothing is stored."""

    @property
    def ratios(self) -> list[Ratio]:
        """The ratios of this sitting alone."""
        ratios = (case.ratio(self.before, self.after) for case in self.cases)
        return [ratio for ratio in ratios if ratio is not None]

    @property
    def failures(self) -> dict[str, str]:
        """Maps each case that failed on a side to the reason."""
        reasons = self.unmeasured.items()
        return {case: why for case, (outcome, why) in reasons if outcome is not Outcome.SKIPPED}

    @property
    def unmeasured(self) -> dict[str, tuple[Outcome, str]]:
        """Maps each case without a ratio to the outcome, and the reason."""
        return {
            case.case: case.why_no_ratio(self.before, self.after)
            for case in self.cases
            if case.ratio(self.before, self.after) is None
        }

    def between(self, before: int, after: int) -> Compared:
        """Return the comparison of two versions, by index.

        Raises:
            WatchError: no case ran on both.
        """
        compared = dataclasses.replace(self, before=before, after=after)
        if self.cases and not compared.ratios:
            _, reason = self.cases[0].why_no_ratio(before, after)
            raise WatchError(f"no case ran on both sides ({reason})")
        return compared


def measure(
    workplace: Workplace,
    sides: Sequence[Side],
    cases: Sequence[MeasurableCase],
    kind: Kind | None = None,
    sampling: Sampling = DEFAULT,
    extra: Sequence[Comparison] = (),
    budget: Budget | None = None,
    conditions: Conditions | None = None,
    keep: KeepCase = lambda result: None,
) -> Compared:
    """Measure sides interleaved, first times and then other values; store each finished case.

    An interrupted measurement continues with the rounds that it had stored, and so does one whose
    ``budget`` was over, which returns what the rounds tell so far of unfinished cases. A working
    tree is recognised by its content.

    By default, the kind follows from what differs between the sides. ``extra`` are results of the
    same comparison that no suite measures. The conditions are those of the last version, if this
    is also a run of it. ``keep`` is called with each case that is finished.

    Returns:
        The first version against the last; a run has one version.
    """
    sitting = _sitting(workplace, sides, kind, sampling, conditions)
    results = workplace.configuration.results
    folder, known_as = workplace.configuration.work_folder, sitting.kind if sitting else "compare"
    unfinished = Unfinished(folder / "unfinished", sides, workplace.machine, known_as)
    writer, finished = None, dict[str, Comparison]()
    if sitting is not None:
        sitting = unfinished.continued(sitting)
        writer = SittingWriter(results, sitting)
        if kind != "run":  # whose cases are those to measure, also some that failed before
            stored, _ = read_record(results, sitting.machine)
            finished = {each.case: each for each in stored if each.sitting.key == sitting.key}
    elif all(side.version for side in sides):
        unfinished.forget()  # something else may be installed for the interpreters by now
    names = [*(result.case for result in extra), *(case.name for case in cases)]
    measured = {name: finished[name] for name in names if name in finished}

    def store(result: Comparison) -> None:
        if writer is not None:
            writer.add(result)
        measured[result.case] = result
        keep(result)

    for result in extra:
        if result.case not in finished:
            store(result)
    missing = [case for case in cases if case.name not in finished]
    run_within(budget, partial(unfinished.measure, missing, store, sampling, budget))
    so_far = unfinished.so_far([case for case in missing if case.name not in measured], sampling)
    if writer is not None:
        writer.end(machine_state() if conditions else None)
    record = writer.path if writer else None
    return Compared((*measured.values(), *so_far), 0, len(sides) - 1, record)


def _sitting(
    workplace: Workplace,
    sides: Sequence[Side],
    kind: Kind | None,
    sampling: Sampling,
    conditions: Conditions | None,
) -> Sitting | None:
    """Describe a measurement; ``None`` if it cannot be stored.

    A side is not committed then, or the interpreters hold the same releases.
    """
    versions = tuple(side.version for side in sides if side.version is not None)
    has_one_name = len(set(versions)) == 1 < len({side.python for side in sides})
    if len(versions) < len(sides) or has_one_name:
        return None
    planted = sides[-1].planted
    if planted:
        kind = "planted"
    elif any(side.other_cases for side in sides):
        kind = "cases"
    elif kind is None:
        commits = {version.commit for version in versions}
        kind = "release" if len(commits) == 1 else "compare"
        kind = "null" if len(set(versions)) == 1 else kind
    recipe = processes.recipe_of_samples(sides)
    if kind != "run":
        rounds = dataclasses.asdict(sampling)
        del rounds["usual_spread"]  # of the machine today, so that each would have another
        del rounds["all_sides"]  # says nothing about a case that was measured
        if not sampling.change_if_busy:
            del rounds["change_if_busy"]  # as in what was stored before it existed
        recipe = {**rounds, **recipe, "estimate": ESTIMATE}
    if planted:
        recipe["planted"] = planted
    return Sitting(
        kind=kind,
        at=int(time.time()),
        machine=workplace.machine,
        versions=versions,
        conditions=conditions,
        recipe=recipe,
    )
