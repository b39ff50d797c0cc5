"""One round of one case: a process of each side, with interleaved samples of a time.

Each side has a server, as `asv_watch.probes.measure` describes it. Servers of one environment are
forks of one parent: so what differs from process to process by chance, such as the layout of
memory, is the same for both sides of a ratio. Where the processes compute on one thread they are
pinned to one core, so that they share its clock, its caches and its neighbours; where they use a
GPU, to two. With asv's default clock, it is the core that the system gave the first side, as
others may be busier.

All sides of a round have the same random data: their generators have one seed, and Python hashes
texts alike. Another round has others.

A case that times nothing has one value on each side. Its server imports no modules first, and
serves only cases with the same `MeasurableCase.process`: peak memory is that of a whole process.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal, TypedDict

import msgspec
import psutil

from asv_watch import probes
from asv_watch.asv.environments import INFORMATION, installed_in
from asv_watch.comparison import Clock, Finite, Outcome
from asv_watch.engine.cases import MeasurableCase
from asv_watch.engine.workplace import Side
from asv_watch.errors import MachineError
from asv_watch.machine import children
from asv_watch.machine.commands import check_machine
from asv_watch.machine.facts import usable_cores
from asv_watch.statistics.ratio import fastest

MOST_SAMPLES = 8
"""Largest number of samples of each side in a round on an idle machine: with twice as many an
interval gets no narrower, because processes differ more than their samples do."""
MOST_SAMPLES_IF_BUSY = 32
"""Largest number of samples while other work keeps the processes waiting, which makes samples
differ more than processes do. The additional samples may take as long as it took to get ready, so
that a round takes at most twice as long."""
COMPUTING = 0.75
"""Share of the samples, and of the rounds, in which a case that computes never waits."""
DISTURBED = 0.1
"""If other work takes more than this share of the sampling time, it disturbs the samples."""
FEWEST_SAMPLES = 4
_FEWEST_SAMPLES_ALONE = 2
SECONDS = 1.0
"""No new turn begins after this many seconds, once each side has `FEWEST_SAMPLES`. The time that
other work keeps the processes waiting does not count: a busy machine needs more samples, not
fewer."""
_LONGEST_REASON = 2000
"""Characters of a reason: a C++ compiler that fails prints its whole command, and the code."""
_DIGITS_OF_VALUES = 12
"""Digits in which a fractional tracked value is compared: sums in another order differ in later
ones."""
_SECONDS_TO_END = 2.0
_Process = Literal["fork", "shared", "own"]
"""What runs a case: a fork, the process that is shared by a side's cases, or a fresh process."""


@dataclass(frozen=True, slots=True)
class SideResult:
    """The measurement of one side in a round."""

    value: Finite
    """Seconds of a call by the case's own clock, as the mean of the fastest of its samples; or
    the only value of a case that times nothing."""
    wall: Finite | None = None
    """Wall seconds of a call, as the mean of the fastest by this clock; ``None`` if nothing was
    timed."""
    cpu: Finite | None = None
    """Seconds of CPU time of its process in a call, as the mean of the fastest by this clock."""
    computes: bool = False
    """Whether at least three quarters of its samples ran one thread that never waited; always
    false by other clocks than asv's default."""
    clock: Clock = ""
    """``process`` if `value` is CPU time because asv.conf.json asks for it."""
    one_setup: bool = False
    """Whether its samples shared one ``setup``, which takes more than ten times as long."""


Round = tuple[SideResult | None, ...]
"""Measurement of each side; ``None`` for a side that is not measured any more."""


class _Answer(TypedDict, total=False):
    """An answer of `asv_watch.probes.measure`."""

    server: int
    modules: list[str] | None
    imported: bool
    pid: int
    calls: int
    one_thread: bool
    computes: bool
    clock: Clock
    setup_costs: bool
    value: float
    wall: float
    cpu: float
    skipped: str
    failed: str
    status: int
    goes_on: bool


class UnmeasuredError(Exception):
    """A side gives no number, because the case is skipped, fails or takes too long there.

    The message says why, and names the side unless the case is skipped.
    """

    def __init__(self, outcome: Outcome, reason: str, server: SideProcess) -> None:
        skips = outcome is Outcome.SKIPPED
        super().__init__(reason if skips else f"{server.side.name}: {reason}")
        self.outcome, self.reason, self.server = outcome, reason, server


@dataclass(frozen=True, slots=True, eq=False)
class Connection:
    """The connection to the process of a side."""

    child: children.Child
    """The process from which those of the sides are forked, or that of the only side."""
    siblings: list[Connection]
    """All open connections to what was forked from it, this one included."""
    requests: IO[bytes]
    answers: children.Lines

    def close(self, *, kill: bool) -> None:
        """End a side's process by closing its input; after the last side, or to kill, end all."""
        with contextlib.suppress(BrokenPipeError):
            self.requests.close()
        self.siblings.remove(self)
        if kill or not self.siblings:
            self.child.end(0.0 if kill else _SECONDS_TO_END)
        self.answers.file.close()


class SideProcess(contextlib.AbstractContextManager["SideProcess"]):
    """The process of one side that starts cases; it starts when it is first needed."""

    def __init__(
        self,
        side: Side,
        folder: Path,
        seed: int = 1,
        preload: Sequence[str] = (),
        shared: Sequence[str] = (),
    ) -> None:
        """Start nothing yet.

        Servers of the same side share what ``setup_cache`` made in the folder. The seed is that of
        the random numbers of its cases. Modules to ``preload`` are imported before the first case
        that times something. If there are several sides, ``shared`` ones are then imported once.
        """
        self.side, self.folder, self.preload, self.shared = side, folder, preload, shared
        self.imported: list[Sequence[str] | None] = []
        """What each suite imported of the environment; ``None`` if it cannot be shared."""
        self.seed = seed
        self._installed = installed_in(side.environment.folder)
        self._errors = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115
        self._errors_before = 0
        self._connection: Connection | None = None
        self._case: MeasurableCase | None = None
        self._shared_by = ""
        """The common `process` of the cases that the process measures."""

    def __exit__(self, *error: object) -> None:
        self.stop()
        self._errors.close()

    def needs_process(self, case: MeasurableCase) -> bool:
        """Tell whether a process has to start for a case; one that serves other cases ends."""
        connection = self._connection  # killed with the process of another side that hung
        has_ended = connection and connection.child.process.poll() is not None
        if has_ended or case.process != self._shared_by:
            self.stop()
        return self._connection is None

    @property
    def errors(self) -> int:
        """Descriptor of the file to which its process writes errors."""
        return self._errors.fileno()

    def use(self, connection: Connection, case: MeasurableCase) -> None:
        """Use a process that has started for a case and those that share its process."""
        self._connection, self._shared_by = connection, case.process

    def start(self, case: MeasurableCase, process: _Process) -> None:
        """Begin to make a case; `wait_until_ready` waits for it.

        Raises:
            UnmeasuredError: this side has no such case.
        """
        measured = self.side.other_cases.get(case.identity, case.identity)
        if not measured:
            raise UnmeasuredError(Outcome.SKIPPED, "it has no such case", self)
        self._case, self._errors_before = case, os.fstat(self.errors).st_size
        request = {"case": measured, "process": process, "seed": self.seed}
        self._send(json.dumps(request | {"clock": self.side.environment.declared.clock}))

    def wait_until_ready(self) -> _Answer:
        """Wait until the case has warmed up or has a value; return or raise as `_answer` does."""
        case = self._case
        assert case is not None  # noqa: S101 - it was started
        self._answer(self.side.environment.declared.import_timeout)
        return self._answer(case.timeout + (case.cache_timeout if case.is_timed else 0.0))

    def wait_for_value(self) -> SideResult:
        """Wait for the value of a case that times nothing, and return it."""
        value = self.wait_until_ready()["value"]
        return SideResult(value if value.is_integer() else float(f"{value:.{_DIGITS_OF_VALUES}g}"))

    def sample(self, *, same_setup: bool = False) -> SideResult:
        """Take a sample, if wanted without another ``setup`` before it."""
        assert self._case is not None  # noqa: S101 - it is ready
        self._send("same setup" if same_setup else "")
        return msgspec.convert(self._answer(self._case.timeout), SideResult)

    def ask_to_end(self) -> None:
        """Begin to end the case, if one is running; `wait_until_ended` waits for it."""
        if self._case is not None:
            self._send("end")

    def wait_until_ended(self) -> None:
        """Wait for the end of the case, if one is running; answers not read yet are dropped.

        A side that hangs while the other one fails is killed after the timeout of its case.
        """
        if self._case is None:
            return
        until = time.monotonic() + self._case.timeout
        with contextlib.suppress(UnmeasuredError):  # such as in its teardown: it has its samples
            while "status" not in self._read(until - time.monotonic()):
                pass

    def check_unchanged(self) -> None:
        """Refuse an environment that was changed since this server was made, such as by a case."""
        folder = self.side.environment.folder
        changed = sorted({name for name, _ in self._installed ^ installed_in(folder)})
        if changed:
            (folder / INFORMATION).unlink(missing_ok=True)  # the next use makes it anew
            others = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
            raise MachineError(
                f"{self.side.name}: {folder} was changed meanwhile ({changed[0]}{others}); "
                "correct what changes it, and run the same again"
            )

    def _send(self, line: str) -> None:
        assert self._connection is not None  # noqa: S101 - a process has started
        with contextlib.suppress(BrokenPipeError):  # `_answer` finds out why
            self._connection.requests.write(line.encode() + b"\n")

    def _answer(self, timeout: float) -> _Answer:
        """Return the answer to a request, which has to come within so many seconds.

        Raises:
            UnmeasuredError: the case cannot run here, failed, took too long, or its process ended.
            MachineError: it failed because of the machine, for example a full disk.
        """
        answer = self._read(timeout)
        if "skipped" in answer:
            raise UnmeasuredError(Outcome.SKIPPED, self._shown(answer["skipped"]), self)
        if "failed" not in answer and "status" not in answer:
            return answer
        reason = answer["failed"] if "failed" in answer else self._end_in_words(answer["status"])
        check_machine(f"{self.side.name}: {reason}")
        raise UnmeasuredError(Outcome.FAILED, self._shown(reason), self)

    def _end_in_words(self, status: int) -> str:
        if status == 0:
            return "the process ended before it gave a value (os._exit, sys.exit or SystemExit)"
        written = os.fstat(self.errors).st_size - self._errors_before
        # Not `read`: the process writes where this file's position is.
        errors = os.pread(self.errors, written, self._errors_before)
        lines = errors.decode(errors="replace").strip().splitlines()
        return lines[-1] if lines and status > 0 else children.exit_in_words(status)

    def _shown(self, reason: str) -> str:
        """Return a reason as one line, without folders of this machine, cut to what is stored."""
        line = " ".join(reason.split()).replace(str(self.side.source), "the package")
        return line.replace(str(self.side.environment.folder), "the environment")[:_LONGEST_REASON]

    def _read(self, timeout: float) -> _Answer:
        """Return the next answer; the end of the process counts as the end of its case."""
        connection = self._connection
        assert connection is not None  # noqa: S101 - a case was started
        try:
            answer = self._wait(connection, time.monotonic() + timeout)
        except (TimeoutError, subprocess.TimeoutExpired):
            self.stop(kill=True)
            reason = f"did not answer in {timeout:g} s"
            raise UnmeasuredError(Outcome.TIMED_OUT, reason, self) from None
        except children.TooMuchMemoryError as error:
            self.stop(kill=True)
            raise UnmeasuredError(Outcome.FAILED, str(error), self) from None
        if "status" in answer:
            self._case = None
            if not answer.get("goes_on"):
                self.stop()
        return answer

    def _wait(self, connection: Connection, deadline: float) -> _Answer:
        """Wait for an answer about the case; take note of those about the process."""
        while (left := deadline - time.monotonic()) > 0:
            line = connection.answers.read(deadline)
            if not line:
                return {"status": connection.child.process.wait(left)}
            answer = msgspec.json.decode(line, type=_Answer)
            if "server" in answer:
                connection.answers.pid = answer["server"]
            elif "modules" in answer:
                self.imported.append(answer["modules"])
            else:
                return answer
        raise TimeoutError

    def stop(self, *, kill: bool = False) -> None:
        """End the process and its child by closing its input; kill them if they stay.

        A kill ends those of other sides too, if one parent forked them.
        """
        connection, self._connection = self._connection, None
        self._case = None
        if connection is not None:
            connection.close(kill=kill)


def recipe_of_samples(sides: Sequence[Side]) -> dict[str, float | str]:
    """Return how samples of these versions are taken, whatever the number of rounds."""
    recipe: dict[str, float | str] = {
        "fewest_samples": FEWEST_SAMPLES,
        "most_samples": MOST_SAMPLES,
        "round_s": SECONDS,
    }
    if not all(side.environment.fork_safe for side in sides):
        recipe["processes"] = "all cases one after the other in one"
    if clock := sides[0].environment.declared.clock:
        recipe["clock"] = clock
    return recipe


def imported_by_all(servers: Sequence[SideProcess]) -> list[str]:
    """List the modules that every suite imported on every side, in order; none if one cannot."""
    imported = [modules for server in servers for modules in server.imported]
    lists = [modules for modules in imported if modules is not None]
    if not lists or len(lists) < len(imported):
        return []
    common = set.intersection(*map(set, lists))
    return [name for name in lists[0] if name in common]


def measure_round(
    servers: Sequence[SideProcess], case: MeasurableCase, *, number: int = 0
) -> tuple[SideResult, ...]:
    """Measure one case on all sides: times interleaved, other values once per side.

    The number of the round, from 0, says in which order sides begin.

    Raises:
        UnmeasuredError: a side cannot run it, or it failed there.
    """
    began = time.monotonic()
    try:
        process = _process_for(case, servers)
        _start_missing(servers, case, process)
        if not case.is_timed:
            return _values(servers, case, process)
        for server in servers:
            server.start(case, process)
        ready = [server.wait_until_ready() for server in servers]  # they set up at the same time
        processes = [answer["pid"] for answer in ready]
        same_setup = all(answer["setup_costs"] for answer in ready)
        if all(answer["one_thread"] for answer in ready):
            _pin(processes, _last_cores(1))
        elif not case.can_fork:  # a GPU is given work by Python, or by a thread of autograd
            _pin(processes, _last_cores(2))
        elif process == "fork" and len(servers) > 1 and all(one["computes"] for one in ready):
            _pin(processes, _cores_of(processes[0]))
        samples: list[list[SideResult]] = [[] for _ in servers]
        orders = itertools.cycle(sampling_orders(len(servers), number))
        ready_at, waited_s = time.monotonic(), 0.0
        while _needs_samples(
            len(samples[0]), len(servers), ready_at - began, time.monotonic() - ready_at, waited_s
        ):
            for index in next(orders):
                sample = servers[index].sample(same_setup=same_setup)
                samples[index].append(sample)
                waited_s += _waiting_s(sample, ready[index]) * int(ready[index]["calls"])
    except KeyboardInterrupt:  # nobody waits for the case, which may take minutes more
        for server in servers:
            server.stop(kill=True)
        raise
    finally:
        _end_cases(servers)
    return tuple(
        _number_of(side_samples, answer["clock"], one_setup=same_setup)
        for side_samples, answer in zip(samples, ready, strict=True)
    )


def _values(
    servers: Sequence[SideProcess], case: MeasurableCase, process: _Process
) -> tuple[SideResult, ...]:
    """Return the value of each side of a case that times nothing.

    Peak memory does not depend on what else runs, so sides measure it at the same time, as many as
    there are cores: with more, a case would take longer than alone, and might exceed its timeout.
    Other values may, such as a time that a suite takes by itself: they are measured one after the
    other.
    """
    at_once = usable_cores() if case.measures == "memory" else 1
    values: list[SideResult] = []
    for first in range(0, len(servers), at_once):
        together = servers[first : first + at_once]
        for server in together:
            server.start(case, process)
        values += [server.wait_for_value() for server in together]
    return tuple(values)


def sampling_orders(sides: int, number: int) -> list[list[int]]:
    """Return the orders in which a round takes one sample of each side, to be repeated.

    They are the rows of a Williams square: each side stands in each place, and follows each other
    side, equally often (E. J. Williams, "Experimental designs balanced for the estimation of
    residual effects of treatments", 1949). Two sides get 0 1, 1 0. In any fixed order, a side
    would always find the caches as the same neighbour left them. The square of k sides has k rows,
    or 2 k if k is odd; the round of each number, from 0, begins with the next row.
    """
    steps = [(place + 1) // 2 * (1 if place % 2 else -1) for place in range(sides)]
    rows = [[(shift + step) % sides for step in steps] for shift in range(sides)]
    if sides % 2:
        rows += [row[::-1] for row in rows]
    first = number % len(rows)
    return rows[first:] + rows[:first]


def _needs_samples(
    samples: int, sides: int, ready_s: float, sampling_s: float, waited_s: float
) -> bool:
    """Tell whether a round needs more samples than each side has.

    All sides were ready after ``ready_s``. In ``waited_s`` of the ``sampling_s`` since then, other
    work kept the processes waiting.
    """
    if samples < (FEWEST_SAMPLES if sides > 1 else _FEWEST_SAMPLES_ALONE):
        return True
    is_busy = sides > 1 and waited_s > DISTURBED * sampling_s
    if is_busy and sampling_s < ready_s:
        return samples < MOST_SAMPLES_IF_BUSY
    return samples < MOST_SAMPLES and sampling_s - waited_s < SECONDS


def _waiting_s(sample: SideResult, ready: _Answer) -> float:
    """Return the seconds of a call in which other work kept a computing process waiting."""
    computes = sample.computes or ready["one_thread"]
    if not computes or sample.wall is None or sample.cpu is None:
        return 0.0
    return max(0.0, sample.wall - sample.cpu)


def _process_for(case: MeasurableCase, servers: Sequence[SideProcess]) -> _Process:
    if case.measures == "memory":
        return "own"
    fork_safe = all(server.side.environment.fork_safe for server in servers)
    return "fork" if case.is_timed and case.can_fork and fork_safe else "shared"


def _start_missing(
    servers: Sequence[SideProcess], case: MeasurableCase, process: _Process
) -> None:
    """Start a process for each server without one; for forks, one process for an environment."""
    groups: dict[object, list[SideProcess]] = {}
    for index, server in enumerate(servers):
        if server.needs_process(case):
            group = server.side.same_process if process == "fork" else index
            groups.setdefault(group, []).append(server)
    memory_limit = children.memory_limit(len(servers))
    for together in groups.values():
        first = together[0]
        preload, shared = (first.preload, first.shared) if case.is_timed else ((), ())
        pipes = [(*os.pipe(), *os.pipe()) for _ in together]
        sides: list[dict[str, Any]] = [
            {
                "files": (request_reader, answer_writer, server.errors),
                "folder": str(server.folder),
                "source": str(server.side.source),
                "planted": server.side.planted,
            }
            for server, (request_reader, _, _, answer_writer) in zip(together, pipes, strict=True)
        ]
        child = children.Child(
            first.side.command(probes.MEASURE, json.dumps(sides), *preload, "--", *shared),
            stdin=subprocess.DEVNULL,
            stdout=first.errors,
            stderr=first.errors,
            pass_fds=list(itertools.chain(*(side["files"] for side in sides))),
            cwd=first.folder,
            env={"PYTHONHASHSEED": str(first.seed), **first.side.variables, "PYTHONPATH": ""},
        )
        siblings: list[Connection] = []
        for server, (reader, requests, answers, writer) in zip(together, pipes, strict=True):
            os.close(reader)
            os.close(writer)
            lines = children.Lines(os.fdopen(answers, "rb", 0), memory_limit)
            connection = Connection(child, siblings, os.fdopen(requests, "wb", 0), lines)
            siblings.append(connection)
            server.use(connection, case)


def _end_cases(servers: Sequence[SideProcess]) -> None:
    for server in servers:
        server.ask_to_end()
    for server in servers:
        server.wait_until_ended()
    for server in servers:
        server.check_unchanged()


def _number_of(samples: Sequence[SideResult], clock: Clock, *, one_setup: bool) -> SideResult:
    """Return the means of the fastest samples by each clock: interference only ever adds time."""
    counted = fastest(samples, lambda sample: sample.value)
    return SideResult(
        statistics.fmean(sample.value for sample in counted),
        _mean_of_fastest(sample.wall for sample in samples),
        _mean_of_fastest(sample.cpu for sample in samples),
        computes=sum(sample.computes for sample in samples) >= COMPUTING * len(samples),
        clock=clock,
        one_setup=one_setup,
    )


def _mean_of_fastest(times: Iterable[float | None]) -> float | None:
    known = [seconds for seconds in times if seconds is not None]
    return statistics.fmean(fastest(known, float)) if known else None


def _last_cores(count: int) -> list[int]:
    """Return the last cores of this process; the first one serves most interrupts."""
    return sorted(os.sched_getaffinity(0))[-count:] if hasattr(os, "sched_getaffinity") else []


def _cores_of(process: int) -> list[int]:
    """Return the core on which a process runs, or none if that is unknown."""
    with contextlib.suppress(psutil.NoSuchProcess, AttributeError):  # not known on macOS
        return [psutil.Process(process).cpu_num()]
    return []


def _pin(processes: Sequence[int], cores: Collection[int]) -> None:
    """Let all threads of processes run on the same few cores; do nothing where there are none."""
    for process in processes if cores else ():
        with contextlib.suppress(OSError):  # it has just died: it will be asked for a sample
            for thread in os.listdir(f"/proc/{process}/task"):
                os.sched_setaffinity(int(thread), cores)
