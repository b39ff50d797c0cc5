"""Measures cases of one version; takes a sample of a time on request.

Runs as a script in the environment that is measured, ``python -P measure.py <folder of suites>
<sides as JSON> <module> ... -- <module> ...``; it needs nothing of this package, so that it can
measure commits from before it. It imports the modules once for all cases of a round, because
importing may take longer than measuring. If it has several sides, each runs in a fork, which
imports the modules that its own source brings; all others are imported before. Those after the
``--`` are imported before the forks or not at all. A case runs in one of three ways: ``fork``,
in a grandchild: a child imports the suite and forks a process for each case, which is safe because
nothing runs before the fork and there is one thread (with threads that a fork does not end, the
child times one case itself, and ends); ``shared``, in the process itself, for releases that are
slower in a forked process, for values, and for a GPU, which must never be initialised in a process
that forks; ``own``, in the process itself, which then ends: peak memory is that of a process as a
whole. A case is made as asv makes it, by its own suite and under its recipe: the length of a
sample, the warm-up and the clock. What ``setup_cache`` returned is kept in the working folder, for
all processes of this side that run there.

Each side has a file of requests, which are lines, and one of answers, which are lines of JSON, the
first one ``{"server": 7}`` with the id of its process. For each suite in whose fork cases run,
``{"modules": ["numpy"]}`` lists the modules of the environment that it imported; ``null`` says
that no process could import them for several sides.

- ``{"case": "<benchmark>-<index of the case>", "process": "fork", "seed": 1, "clock": ""}`` starts
  a case; with the clock ``process``, suites with asv's default timer measure CPU time. The
  seed is that of `random` and of the generators of numpy and torch, before the suite is imported
  and again before its ``setup``; it is the same for all versions of a round. The answers are
  ``{"imported": true}`` when its suite is imported, then ``{"pid": 7, "calls": 12, "one_thread":
  true, "computes": false, "clock": "", "setup_costs": false}`` when it is warm (whether its clock
  is the CPU time of one thread; whether it is asv's default, and one thread made the last calls,
  which never waited; the clock that replaced asv's default; whether its ``setup`` takes far longer
  than a sample, and samples may share one), ``{"value": 7.0}`` if it times nothing, or
  ``{"skipped": "<reason>"}``.
- An empty line takes a sample, and ``same setup`` one without ``setup`` before it; the answer is
  ``{"value": 0.03, "wall": 0.03, "cpu": 0.02, "computes": true}``: the seconds of one call by
  the case's own clock, by the wall and in CPU time of the process, and whether the clock is asv's
  default and one thread ran, which never waited.
  Before a sample of several calls, one or more calls are made uncounted, because the other side
  used the caches in between. They share a ``setup`` if the suite leaves the number of calls open.
- ``end`` ends the case.

``{"failed": "<error>"}`` instead of an answer says what the case raised. When a case is over,
asked for or not, the last answer is ``{"status": 0, "goes_on": true}``; another status means that
it failed. Where the process does not go on, it ends. A planted share makes every sample slower by
that share of its fastest time after the warm-up, by computing for so long.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib
import importlib.machinery
import json
import math
import os
import pickle
import re
import resource
import subprocess
import sys
import threading
import timeit
import traceback
import warnings
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from time import perf_counter, process_time, sleep, thread_time  # a suite may replace them
from types import ModuleType
from typing import Any, NamedTuple, NoReturn, TextIO, TypedDict

_WARM_SHARE = 10
"""Warm-up before each sample: a tenth of its calls, at least one."""
_FIRST_CALLS = 3
"""Times count from the last of these first calls on: the calls before it import, compile, load
kernels or choose algorithms, and may take as long as all that follow."""
_FIRST_CALLS_S = 1.0
"""No further first call starts once those after the very first have taken this long."""
_COSTLY_SETUP = 10
"""Of a case whose ``setup`` takes so many times as long as a sample, all samples of a round may
share one, if the suite leaves the number of calls open: then calls share a ``setup`` anyway."""
_SAME_SETUP = "same setup"
_LONGEST_REQUEST = 1 << 16  # bytes
_LONGEST_ERROR = 1 << 16  # characters
_STANDARD = (0, 1, 2)  # input, output and error
_TOO_LARGE = 1e300  # refused: the ratio of two such values may not be finite
_ONE_THREAD = 0.98
"""A thread that uses at least this share of its process's CPU time counts as the only one."""
_SHORTEST_S = 1e-4
"""Samples with less CPU time count as waiting: reading the clocks takes up to a microsecond."""
_RUNNER = "asv_runner.discovery"
"""Makes the cases; imported before any process is forked, as that takes a tenth of a second."""
Timeit = Callable[[int], float]
"""Makes so many calls, and returns the seconds that they take."""
_SKIPPED = "skipped by its suite"
"""The reason of a suite that gives none."""


class _Side(TypedDict):
    """A side, whose files are open."""

    files: tuple[int, int, int]
    """Descriptors of its requests, its answers and its errors."""
    folder: str
    source: str
    """Folder from which its package is imported."""
    planted: float


class _Request(TypedDict):
    case: str
    process: str
    seed: int
    clock: str


_SEEDERS = {"random": "seed", "numpy.random": "seed", "torch": "manual_seed"}


class _Seeding:
    """Sets the seed of random generators: of loaded modules now, of others after their import."""

    seed = 1

    def seed_all(self, seed: int) -> None:
        self.seed = seed
        for name in _SEEDERS.keys() & sys.modules.keys():
            self._seed(name, sys.modules[name])

    def _seed(self, name: str, module: ModuleType) -> None:
        seeder = getattr(module, _SEEDERS[name], None)
        if seeder is not None:  # else it is another module of that name, or half imported
            seeder(self.seed)

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, _target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Find a module that has a random generator, as an entry of `sys.meta_path` does."""
        spec = importlib.machinery.PathFinder.find_spec(name, path) if name in _SEEDERS else None
        if spec is None or spec.loader is None:
            return None
        execute = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            execute(module)
            self._seed(name, module)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


_seeding = _Seeding()


class _Used(NamedTuple):
    """What a process used between readings of its clock."""

    wall: float
    cpu: float
    """CPU seconds of all its threads."""
    of_this_thread: float
    """CPU seconds of the thread that reads the clock."""
    waits: int
    """How often a thread gave its core away by itself, such as to sleep, read or wait for another
    thread; being interrupted by other work is none."""

    @property
    def computes(self) -> bool:
        """Whether one thread ran and never waited, for long enough to be sure of it."""
        is_one_thread = self.of_this_thread > _ONE_THREAD * self.cpu
        return is_one_thread and not self.waits and self.cpu > _SHORTEST_S


class _Clocks:
    """The clock of a case; it also adds up what its process uses between each two readings.

    The wall is read next to the case's own clock: a call of the system between them is where other
    work gets the core.
    """

    def __init__(self, own: Callable[[], float]) -> None:
        self._own, self._process = own, os.getpid()
        self._runs = False
        self._wall = self._cpu = self._of_this_thread = 0.0
        self._waits = 0

    def __call__(self) -> float:
        self._runs = not self._runs
        if self._runs:
            self._waits -= _waits()
            self._of_this_thread -= thread_time()
            self._cpu -= process_time()
            self._wall -= perf_counter()
            return self._own()
        now = self._own()
        _end_copies(self._process)
        self._wall += perf_counter()
        self._cpu += process_time()
        self._of_this_thread += thread_time()
        self._waits += _waits()
        return now

    def take(self) -> _Used:
        """Return what was used since the last call of this method."""
        used = _Used(self._wall, self._cpu, self._of_this_thread, self._waits)
        self._wall = self._cpu = self._of_this_thread = 0.0
        self._waits = 0
        return used


def _end_copies(process: int) -> None:
    """End this process if it is a copy of one: a suite forked, and both returned."""
    if os.getpid() != process:
        os._exit(1)


def _waits() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_nvcsw


def _waits_are_counted() -> bool:
    """Tell whether the kernel counts all waits: some systems count none, macOS not all."""
    before = _waits()
    sleep(1e-4)
    return sys.platform == "linux" and _waits() > before


def calls_of_a_sample(
    seconds_of: Timeit, number: int, sample_time: float, warmup_time: float
) -> int:
    """Warm up, and find how many calls make a sample.

    ``number`` is how many the suite asks for, or 0 if it leaves that open. A sample lasts at least
    ``sample_time`` seconds. Calls of ``warmup_time`` seconds come between the very first one and
    the first sample.
    """
    seconds_of(1)
    start = perf_counter()
    took = 0.0
    for _ in range(_FIRST_CALLS - 1):
        if perf_counter() - start < _FIRST_CALLS_S:
            took = seconds_of(1)
    calls = number or 1
    while True:
        if not number and took < sample_time:
            calls = max(calls + 1, math.ceil(calls * min(10.0, sample_time / max(took, 1e-9))))
        elif perf_counter() - start >= warmup_time:
            return calls
        took = seconds_of(calls)


class _WarmUp:
    def __init__(self, timeit: Timeit, clocks: _Clocks, *, counts_waits: bool) -> None:
        self._timeit, self._clocks, self._counts_waits = timeit, clocks, counts_waits
        self.computes = False
        """Whether the last calls ran one thread that never waited, for long enough to be sure."""
        self.seconds = 0.0

    def __call__(self, calls: int) -> float:
        """Return the seconds that so many calls take, by the case's clock or the wall.

        It is CPU time if they never waited. Other work may interrupt them for longer than they
        take, by chance on one side alone: its samples would then be of fewer calls than the
        other's, and slower, because the first calls of a sample find their data in no cache.
        """
        self._clocks.take()
        began = perf_counter()
        seconds = max(self._timeit(calls), perf_counter() - began)
        used = self._clocks.take()
        self.computes = self._counts_waits and used.computes
        never_waited = self._counts_waits and not used.waits
        self.seconds = min(seconds, used.cpu) if never_waited else seconds
        return self.seconds


def _without_setup(benchmark: Any, timeit: Timeit) -> Timeit:
    """Make calls without ``setup`` before them, as asv makes those that find their number."""

    def call(number: int) -> float:
        benchmark._redo_setup_next = False
        return timeit(number)

    return call


class _Channel:
    """The requests to a side and its answers; what a suite prints goes to standard error."""

    def __init__(self, suites: str, planted: float, *, is_alone: bool) -> None:
        self.suites, self.planted, self.is_alone = suites, planted, is_alone
        # Unbuffered, because a child reads on where its parent stopped.
        self._requests = os.fdopen(os.dup(sys.stdin.fileno()), "rb", buffering=0)
        self._answers: TextIO = os.fdopen(os.dup(sys.stdout.fileno()), "w", buffering=1)
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        self.process = os.getpid()

    def request(self) -> str | None:
        """Return the next line without its end; ``None`` at the end of the input."""
        line = self._requests.readline()
        return line.decode().strip() if line else None

    def case(self) -> _Request | None:
        """Return the next request for a case; ``None`` at the end of the input."""
        while (line := self.request()) is not None:
            if line and line != "end":  # else meant for a case that has just failed
                asked: _Request = json.loads(line)
                return asked
        return None

    def answer(self, message: dict[str, Any]) -> None:
        _end_copies(self.process)
        print(json.dumps(message), file=self._answers)


def _skip_reason(benchmark: Any) -> str:
    """Set a case up, and note how long that takes; return the reason if it does not run here."""
    try:
        benchmark.set_cache(_cache_of(benchmark))
        began = perf_counter()
        if not benchmark.do_setup():
            benchmark.setup_s = perf_counter() - began
            return ""
        for setup in benchmark._setups:  # asv drops the reason: raise it once more
            setup(*benchmark._build_params())
    except NotImplementedError as error:
        return str(error) or _SKIPPED
    return _SKIPPED


def _cache_of(benchmark: Any) -> Any:
    key = benchmark.setup_cache_key
    if key is None:
        return None
    if benchmark.type == "peakmemory":  # a pickle would add to the peak
        return benchmark.do_setup_cache()
    path = Path(f"setup_cache-{hashlib.sha256(key.encode()).hexdigest()[:16]}.pickle")
    if not path.exists():
        whole = path.with_suffix(f".{os.getpid()}")
        whole.write_bytes(pickle.dumps(benchmark.do_setup_cache()))
        whole.rename(path)
    return pickle.loads(path.read_bytes())  # noqa: S301 - written by this side


def _own_peak_memory(peak: float) -> float:
    """Return the peak memory of this process without mapped files, such as libraries.

    How many pages of a mapped file are resident depends on the page cache, so that importing one
    library takes 425 MiB after one installation and 532 MiB after another. asv's ``ru_maxrss`` is
    never below the peak of the process that started this one. Systems without these numbers keep
    the peak that asv measured.
    """
    status = Path("/proc/self/status")
    lines = status.read_text(encoding="utf-8") if status.exists() else ""
    sizes = {name: int(kib) * 1024 for name, kib in re.findall(r"(\w+):\s+(\d+) kB", lines)}
    return sizes.get("VmHWM", peak) - sizes.get("RssFile", 0)


def _value_of(benchmark: Any) -> dict[str, float | str]:
    try:
        result = benchmark.run(*benchmark._build_params())
    except NotImplementedError as error:
        return {"skipped": str(error) or _SKIPPED}
    if isinstance(result, str | bool):
        raise TypeError(f"its value is {result!r}, which is not a number")
    value = float(result)
    if benchmark.type == "peakmemory":
        value = _own_peak_memory(value)
    if math.isnan(value):  # as in asv
        return {"skipped": "its value is NaN"}
    if not abs(value) < _TOO_LARGE:
        raise ValueError(f"its value is {value}, which is too large or not finite")
    return {"value": value}


def _measure_case(channel: _Channel, asked: _Request) -> None:
    from asv_runner.discovery import get_benchmark_from_name  # noqa: PLC0415 - of the environment

    _seeding.seed_all(asked["seed"])
    benchmark = get_benchmark_from_name(channel.suites, asked["case"], extra_params={})
    channel.answer({"imported": True})
    _seeding.seed_all(asked["seed"])  # it may have been imported before, by another case
    if reason := _skip_reason(benchmark):
        channel.answer({"skipped": reason})
        return
    if benchmark.type == "time":
        replaced_by = ""
        if asked["clock"] and getattr(benchmark, "timer", None) is timeit.default_timer:
            benchmark.timer, replaced_by = process_time, asked["clock"]
        _take_samples(channel, benchmark, replaced_by)
    else:
        channel.answer(_value_of(benchmark))
    benchmark.do_teardown()


def _take_samples(channel: _Channel, benchmark: Any, replaced_by: str) -> None:
    planted = channel.planted
    clock = getattr(benchmark, "timer", None)  # `timeraw_*` has none
    clocks = benchmark.timer = _Clocks(clock or perf_counter)
    timed: Timeit = benchmark._get_timer(*benchmark._build_params()).timeit
    following = timed if benchmark.number else _without_setup(benchmark, timed)
    warmup = max(benchmark.warmup_time, 0.1)
    counts_waits = clock in (timeit.default_timer, process_time) and _waits_are_counted()
    warm_up = _WarmUp(following, clocks, counts_waits=counts_waits)
    calls = calls_of_a_sample(warm_up, benchmark.number, benchmark.sample_time, warmup)
    spin_s, spin_clock = 0.0, clock or perf_counter
    if planted:
        clocks.take()
        samples = [(following(calls), clocks.take().cpu) for _ in range(5)]
        if warm_up.computes:  # else other work would interrupt a spin for longer than it lasts
            spin_clock = thread_time
        spin_s = planted * min(cpu if warm_up.computes else own for own, cpu in samples)
    one_thread = clock is process_time
    may_compute = counts_waits and clock is timeit.default_timer
    channel.answer(
        {
            "pid": os.getpid(),
            "calls": calls,
            "one_thread": one_thread,
            "computes": may_compute and warm_up.computes,
            "clock": replaced_by,
            "setup_costs": following is not timed
            and benchmark.setup_s > _COSTLY_SETUP * warm_up.seconds,
        }
    )
    while (request := channel.request()) in {"", _SAME_SETUP}:
        before = following if request else timed
        if calls > 1:
            before(max(1, calls // _WARM_SHARE))
        clocks.take()
        seconds = (following if calls > 1 else before)(calls)
        used = clocks.take()
        spun = spun_cpu = 0.0
        if planted:
            spun, spun_cpu = _spin(spin_clock, spin_s, clock or perf_counter)
        if not 0 < seconds < _TOO_LARGE:
            raise ValueError("a sample is not finite or not above zero: the clock stood still")
        answer = {"value": (seconds + spun) / calls}
        if clock is not None:
            answer |= {
                "wall": (used.wall + spun) / calls,
                "cpu": (used.cpu + spun_cpu) / calls,
                "computes": may_compute and used.computes,
            }
        channel.answer(answer)


def _spin(
    clock: Callable[[], float], length: float, own: Callable[[], float]
) -> tuple[float, float]:
    """Compute for so long by a clock; return what that took by the case's own and in CPU time."""
    cpu_start, own_start, start = thread_time(), own(), clock()
    while clock() - start < length:
        pass
    return own() - own_start, thread_time() - cpu_start


def _fork(work: Callable[[], int]) -> int:
    """Do the work in a forked child, which then ends with its result; return the child's id."""
    child = os.fork()
    if child:
        return child
    try:
        os._exit(work())
    finally:  # whatever happens, a child must not go on as its parent
        os._exit(1)


def _run_here(channel: _Channel, work: Callable[[], None]) -> int:
    """Run ``work`` and answer with its error, if there is one; return 1 for an error."""
    channel.process = os.getpid()
    try:
        work()
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        file = frame.filename.rpartition("site-packages/")[2]
        raised_at = f"{frame.line or 'raised'} in {frame.name} of {file}, line {frame.lineno}"
        text = str(error) or raised_at
        channel.answer({"failed": f"{type(error).__name__}: {text}"[:_LONGEST_ERROR]})
        return 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    return 0


def _threads() -> int:
    try:
        return len(os.listdir("/proc/self/task"))
    except OSError:
        return threading.active_count()


def _can_fork() -> bool:
    """Tell whether a fork of this process works as it does.

    It does if one thread runs, or if all others end before a fork and start again when they are
    needed, as those of OpenBLAS do, which numpy starts while it is imported.
    """
    if _threads() > 1:
        with warnings.catch_warnings():  # Python and libraries warn of children that go on
            warnings.simplefilter("ignore")
            child = os.fork()
        if not child:
            os._exit(0)
        os.waitpid(child, 0)
    return _threads() == 1


def _imported_since(before: Collection[str], suites: str) -> list[str]:
    """List the modules of the environment that were imported since then, in order."""
    return [
        name
        for name, module in list(sys.modules.items())
        if name not in before
        and str(getattr(module, "__file__", None)).startswith((sys.prefix, sys.base_prefix))
        and name.partition(".")[0] != os.path.basename(suites)
    ]


def _measure_in_forks(channel: _Channel, first: _Request, next_request: int) -> int:
    """Import the suite of a case, then run its cases in forks until another suite is requested.

    That request is written to the descriptor ``next_request``. What the suite imported can be
    imported for several sides unless it sets environment variables, as for what it then imports.
    The exit status is returned.
    """
    from asv_runner.discovery import get_benchmark_from_name  # noqa: PLC0415 - of the environment

    suites = channel.suites
    _seeding.seed_all(first["seed"])
    suite = functools.partial(get_benchmark_from_name, suites, first["case"], extra_params={})
    modules, variables = set(sys.modules), dict(os.environ)
    failed = _run_here(channel, suite)
    if failed:
        return failed
    can_share = not channel.is_alone and _can_fork() and os.environ == variables
    channel.answer({"modules": _imported_since(modules, suites) if can_share else None})
    package = os.path.basename(suites)
    imported = tuple(f"{name}." for name in sys.modules if name.startswith(f"{package}."))
    asked: _Request | None = first
    while (
        asked and asked["process"] == "fork" and f"{package}.{asked['case']}".startswith(imported)
    ):
        work = functools.partial(_measure_case, channel, asked)
        if not _can_fork():
            return _run_here(channel, work)
        child = _fork(functools.partial(_run_here, channel, work))
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        channel.answer({"status": status, "goes_on": True})
        asked = channel.case()
    os.write(next_request, json.dumps(asked).encode())
    return 0


def _fork_for_suite(channel: _Channel, first: _Request) -> _Request | None:
    """Fork a process for the cases of one suite; return the request that follows them."""
    reader, writer = os.pipe()
    child = _fork(lambda: _measure_in_forks(channel, first, writer))
    os.close(writer)
    with os.fdopen(reader, "rb", buffering=0) as pipe:
        following = pipe.read(_LONGEST_REQUEST)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if following:
        asked: _Request | None = json.loads(following)
        return asked
    channel.answer({"status": status, "goes_on": True})
    return channel.case()


def _serve(channel: _Channel) -> None:
    channel.answer({"server": os.getpid()})
    asked = channel.case()
    while asked is not None:
        if asked["process"] == "fork" and _can_fork():
            asked = _fork_for_suite(channel, asked)
            continue
        work = functools.partial(_measure_case, channel, asked)
        status = _run_here(channel, work)
        goes_on = asked["process"] == "shared" and status == 0
        channel.answer({"status": status, "goes_on": goes_on})
        asked = channel.case() if goes_on else None


def _run_side(
    side: _Side, sides: Sequence[_Side], suites: str, modules: Sequence[str]
) -> NoReturn:
    """Be the process of a side: use its files, folder and source, and measure its cases."""
    for file, standard in zip(side["files"], _STANDARD, strict=True):
        os.dup2(file, standard)
    for file in {file for other in sides for file in other["files"]}.difference(_STANDARD):
        os.close(file)
    os.chdir(side["folder"])
    os.environ["PYTHONPATH"] = side["source"]
    sys.path.insert(0, side["source"])
    _import(modules)
    _serve(_Channel(suites, side["planted"], is_alone=len(sides) == 1))
    sys.stdout.flush()
    os._exit(0)  # or Python looks for cycles among all that was imported, for up to a second


def _import(modules: Iterable[str]) -> None:
    for name in modules:
        with contextlib.suppress(Exception):  # a case that needs it fails by itself, or skips
            importlib.import_module(name)


class _SideImportDetector:
    """Notes whether a module is looked for that a side brings, as an entry of `sys.meta_path`."""

    def __init__(self, sides: Sequence[_Side]) -> None:
        self._sources = [side["source"] for side in sides]
        self._known: dict[str, bool] = {}
        self.was_asked_for = False

    def __call__(self, name: str) -> bool:
        """Tell whether a side brings a module."""
        top = name.partition(".")[0]
        if top not in self._known:
            spec = importlib.machinery.PathFinder.find_spec(top, self._sources)
            self._known[top] = spec is not None and spec.loader is not None  # else a bare folder
        return self._known[top]

    def find_spec(self, name: str, *_others: object) -> None:
        """Note that a module is looked for, and leave it to others to find it."""
        self.was_asked_for |= self(name)


def _import_shared(sides: Sequence[_Side], modules: Sequence[str], others: Sequence[str]) -> bool:
    """Import the shared modules, unload those of one side, and tell whether forks may use them.

    They may not if one looks for what a side brings, because it is found in a side alone.
    """
    is_brought = _SideImportDetector(sides)
    before = set(sys.modules)
    _import(name for name in modules if not is_brought(name))
    sys.meta_path.insert(0, is_brought)
    _import(name for name in others if not is_brought(name))
    sys.meta_path.remove(is_brought)
    for name in set(sys.modules) - before:
        if is_brought(name):
            del sys.modules[name]
    return not is_brought.was_asked_for


def _start_side(
    side: _Side, sides: Sequence[_Side], suites: str, modules: Sequence[str], *, may_fork: bool
) -> int:
    """Start the process of a side and return its id: a fork, or a new one if there are threads."""
    if not (may_fork and _can_fork()):
        command = [sys.executable, "-P", __file__, suites, json.dumps([side]), *modules, "--"]
        return subprocess.Popen(command, pass_fds=side["files"]).pid
    return _fork(lambda: _run_side(side, sides, suites, modules))


def main(
    suites: str, sides: Sequence[_Side], modules: Sequence[str], others: Sequence[str]
) -> None:
    """Import the modules, and run each side in its own process; a single side in this one.

    The others are imported for several sides only, if that changes nothing for them.
    """
    with contextlib.suppress(OSError):  # where memory runs out, this process is ended first
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="utf-8")
    sys.meta_path.insert(0, _seeding)
    modules = [_RUNNER, *modules]
    if len(sides) == 1:
        _run_side(sides[0], sides, suites, modules)
    may_fork = _import_shared(sides, modules, others)
    running = {
        _start_side(side, sides, suites, modules, may_fork=may_fork): side for side in sides
    }
    for side in sides:
        os.close(side["files"][0])
    while running:
        child, status = os.wait()
        if child not in running:  # such as what a module started while it was imported
            continue
        answers = running.pop(child)["files"][1]
        last = json.dumps({"status": os.waitstatus_to_exitcode(status)})
        with contextlib.suppress(BrokenPipeError):  # nobody waits for it any more
            os.write(answers, f"{last}\n".encode())
        os.close(answers)


if __name__ == "__main__":
    end = sys.argv.index("--")
    main(sys.argv[1], json.loads(sys.argv[2]), sys.argv[3:end], sys.argv[end + 1 :])
