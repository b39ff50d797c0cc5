"""One round: real processes that take samples in turn, and cases that cannot be measured."""

import contextlib
import dataclasses
import functools
import itertools
import math
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from asv_watch.asv.declared import Declared
from asv_watch.asv.settings import EnvironmentSpec
from asv_watch.comparison import Clock as ClockName
from asv_watch.engine import processes
from asv_watch.engine.cases import MeasurableCase
from asv_watch.engine.measuring import measure_cases
from asv_watch.engine.processes import SideProcess, SideResult, UnmeasuredError
from asv_watch.engine.rounds import Sampling, clock_of
from asv_watch.engine.workplace import Side
from asv_watch.errors import MachineError
from asv_watch.machine.children import MEMORY_LIMIT
from asv_watch.probes.measure import _spin, _waits_are_counted
from tests.engine.test_simulated_busy import BusyProcess, Clock
from tests.leftovers import wait_until_none_is_left
from tests.torchless import make_interpreter

SUITE = """
import os
import time

import package
from noting import note

note("-imports", package.NAME)


class Suite:
    timer = time.process_time
    number, warmup_time = 1, 0

    def setup(self):
        print("what a suite prints is no sample")
        note("-lineage", f"{os.getpid()} {os.getppid()}\\n")

    def time_it(self):
        note("", package.NAME + str(len(os.sched_getaffinity(0))))
        end = time.process_time() + package.SECONDS
        while time.process_time() < end:
            pass


class Cached:
    def setup_cache(self):
        note("-caches", package.NAME)
        return 3

    def time_it(self, three):
        assert three == 3


def timeraw_it():
    return "time.sleep(package.SECONDS)", "import package, time"


def track_it():
    return 1
"""


@pytest.fixture(autouse=True)
def suites(tmp_path: Path) -> None:
    folder = tmp_path / "benchmarks"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "suite.py").write_text(SUITE)


THREAD = """
import threading, time
threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
"""
NOTED = "import noting\nnoting.note('-modules', 'imported ')\n"
MODULES = {
    "noting": """
import os

def note(kind, text):
    with open(os.environ["NOTES"] + kind, "a") as notes:
        notes.write(text)
""",
    "noted": NOTED,
    "threaded": NOTED + THREAD,
    "pausing": f"""{NOTED}
import os, threading, time
over = threading.Event()
threading.Thread(target=over.wait, daemon=True).start()

def end_thread():
    over.set()
    while len(os.listdir("/proc/self/task")) > 1:
        time.sleep(0.001)

os.register_at_fork(before=end_thread)
""",
    "curious": f"""{NOTED}
try:
    import package
except ImportError:
    package = None
""",
    "mute": "assert 0",
    "leaving": "import subprocess\nsubprocess.Popen(['sleep', '0.1'])\n",
}
"""Modules of the environment."""

Sides = Sequence[Side]


@functools.cache
def environment() -> Path:
    """An environment that has asv_runner and `MODULES`."""
    folder = Path(tempfile.mkdtemp(prefix="environment-"))
    make_interpreter(folder, "2.7", 0.0)
    [packages] = folder.glob("lib/python*/site-packages")
    for name, code in MODULES.items():
        (packages / f"{name}.py").write_text(code)
    return folder


def _side(
    folder: Path,
    name: str,
    seconds: float = 0.002,
    *,
    engine: str = "",
    clock: ClockName = "",
    preload: tuple[str, ...] = (),
    suites: str = "benchmarks",
    **variables: str,
) -> Side:
    source = folder / name
    source.mkdir()
    (source / "package.py").write_text(f"NAME = {name!r}\nSECONDS = {seconds}\n")
    spec = EnvironmentSpec(
        {"engine": engine} if engine else {},
        "",
        environment(),
        {"NOTES": str(folder / "notes"), **variables},
        Declared(fork_safe_from={"engine": "2.7"}, clock=clock, preload=preload),
    )
    return Side(name, source, spec, folder / suites)


@pytest.fixture
def sides(tmp_path: Path) -> Sides:
    return [_side(tmp_path, name) for name in "AB"]


@contextlib.contextmanager
def _servers(sides: Sides, seed: int = 1) -> Iterator[list[SideProcess]]:
    with contextlib.ExitStack() as stack:
        yield [
            stack.enter_context(SideProcess(side, side.source, seed, preload=["leaving"]))
            for side in sides
        ]


def _measure(
    sides: Sides, *cases: MeasurableCase, number: int = 0, seed: int = 1
) -> list[tuple[SideResult, ...]]:
    """Measure a round of each case, with the same servers."""
    with _servers(sides, seed) as servers:
        return [processes.measure_round(servers, case, number=number) for case in cases]


def _case(identity: str, timeout: float = 30.0) -> MeasurableCase:
    """A case by its identity; without ``.time`` it is one of a value."""
    is_timed = ".time" in identity
    return MeasurableCase(identity, identity, timeout, "time" if is_timed else "value")


WORKS = _case("suite.Suite.time_it")


def _write(
    sides: Sides, code: str, name: str = "time_it", timeout: float = 30.0
) -> MeasurableCase:
    (sides[0].suites / "own.py").write_text(code)
    return _case(f"own.{name}", timeout)


def _noted(sides: Sides, kind: str = "") -> str:
    return Path(sides[0].environment.variables["NOTES"] + kind).read_text()


@pytest.mark.parametrize(
    ("names", "number", "orders"),
    [
        ("A", 0, "A"),
        ("AB", 1, "BA AB"),
        ("ABC", 0, "ABC BCA CAB CBA ACB BAC"),
        ("ABCD", 1, "BCAD CDBA DACB ABDC"),
    ],
)
def test_sides_take_turns_on_one_core(
    tmp_path: Path, names: str, number: int, orders: str
) -> None:
    sides = [_side(tmp_path, name) for name in names]
    [numbers] = _measure(sides, WORKS, number=number)
    assert all(0.0015 < number.value < 0.02 for number in numbers)
    notes = _noted(sides)
    turns = list(itertools.islice(itertools.cycle(orders.split()), processes.MOST_SAMPLES))
    assert any(  # before that they warm up
        notes[::2].endswith("".join(turns[:samples]))
        for samples in range(processes.FEWEST_SAMPLES, processes.MOST_SAMPLES + 1)
    )
    assert set(notes[1::2][-len(names) * processes.FEWEST_SAMPLES :]) == {"1"}


@pytest.mark.parametrize("sides", range(2, 9))
def test_each_side_takes_each_place_and_follows_each_other_equally_often(sides: int) -> None:
    orders = processes.sampling_orders(sides, number=0)
    places = Counter((place, side) for order in orders for place, side in enumerate(order))
    followed = Counter(pair for order in orders for pair in itertools.pairwise(order))
    times = len(orders) // sides
    assert places == dict.fromkeys(itertools.product(range(sides), repeat=2), times)
    assert followed == dict.fromkeys(itertools.permutations(range(sides), 2), times)


def test_a_sample_is_timed_by_the_wall_and_by_the_processor(tmp_path: Path) -> None:
    by_wall, by_cpu = [_side(tmp_path, "A")], [_side(tmp_path, "B", clock="process")]
    code = "import time\ndef time_it():\n    time.sleep(0.03)\n    sum(range(1_000_000))\n"
    case = _write(by_wall, code)
    [[number]] = _measure(by_wall, case)
    assert number.wall is not None
    assert number.cpu is not None
    assert number.value == pytest.approx(number.wall, rel=0.01)
    assert 0 < number.cpu < number.wall - 0.025
    [[number]] = _measure(by_cpu, case)
    assert number.wall is not None
    assert number.value == pytest.approx(number.cpu, rel=0.01)
    assert number.value < number.wall - 0.025
    assert clock_of(case, [(number,)]) == number.clock == "process"
    [[number]] = _measure(by_cpu, _case("suite.timeraw_it"))
    assert (number.cpu, number.clock) == (None, ""), "its own process has its own clock"


SAMPLED = """
import time

from noting import note

class Suite:
    events = []
    setup_s = first_s = 0.0

    def setup(self):
        self.events.append("s")
        time.sleep(self.setup_s)

    def time_it(self):
        if self.first_s:
            time.sleep(self.first_s)
            type(self).first_s = 0.0
        self.events.append("c")
        sum(range(10_000))

    def teardown(self):
        note("", "".join(self.events))
        self.events.clear()

class Changed(Suite):
"""

SAMPLES = {
    "setup": ("    setup_s = 0.02", "sc+(sc{10,}){2,8}"),
    "number of calls": ("    number = 3", "(s+c+)+(scsccc){2,8}"),
    "costly setup": ("    setup_s = 0.3", "sc+"),
    "costly setup before each call": ("    setup_s, number = 0.3, 1", "(s+c)+"),
    "clock": ("    timer = staticmethod(lambda: time.perf_counter() * 1000)", "sc+(sc){2,8}"),
    "first call compiles": ("    first_s = 0.15", "sc+(sc{10,}){2,8}"),
}


@pytest.mark.parametrize(("changed", "events"), SAMPLES.values(), ids=SAMPLES)
def test_a_sample_lasts_10_ms_after_a_setup(sides: Sides, changed: str, events: str) -> None:
    """Samples share a setup that would take far longer, if their number of calls is open."""
    [[number]] = _measure(sides[:1], _write(sides, SAMPLED + changed, "Changed.time_it"))
    assert re.fullmatch(events, _noted(sides))
    assert number.one_setup is (events == "sc+")


@pytest.mark.parametrize(
    ("computes", "cpu_clock", "ready_s", "expected"),
    [
        (False, False, 60.0, processes.FEWEST_SAMPLES),
        (True, False, 0.1, processes.MOST_SAMPLES),
        (True, False, 9.0, 12),  # 1.6 s for each two of a side
        (True, False, 60.0, processes.MOST_SAMPLES_IF_BUSY),
        (False, True, 60.0, processes.MOST_SAMPLES_IF_BUSY),
    ],
)
def test_where_other_work_takes_time_a_round_takes_as_long_for_samples_as_for_getting_ready(
    *, computes: bool, cpu_clock: bool, ready_s: float, expected: int
) -> None:
    clock, taken = Clock(), 0

    def samples() -> Iterator[SideResult]:
        nonlocal taken
        while True:
            clock.now, taken = clock.now + 0.4, taken + 1
            waited = taken % 16 == 3  # as for a page of memory
            seconds = 9.0 if taken == 5 else 0.4  # as on a laptop that goes to sleep
            yield SideResult(seconds, seconds, 0.02, computes=computes and not waited)

    busy = BusyProcess(clock, samples(), ready_s / 2, cpu_clock, computes)
    servers: Any = [busy, busy]
    with mock.patch.multiple(processes, time=clock, _pin=mock.DEFAULT):
        numbers = processes.measure_round(servers, WORKS)
    assert taken == 2 * expected
    assert [number.computes for number in numbers] == [computes] * 2
    assert [number.value for number in numbers] == pytest.approx([0.4] * 2)


BUSY = """
import subprocess, threading, time

def time_computes():
    sum(range(1_000_000))  # longer than a process runs before another one gets the core

def time_sleeps():
    time.sleep(0.001)

def time_threads():
    threads = [threading.Thread(target=time_computes) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

def time_processes():
    subprocess.run(["true"])

def time_own_clock():
    sum(range(20_000))

time_own_clock.timer = time.monotonic
"""


@contextlib.contextmanager
def _other_work(count: int) -> Iterator[None]:
    """Let so many processes compute meanwhile."""
    with contextlib.ExitStack() as stack:
        for _ in range(count):
            other = subprocess.Popen([sys.executable, "-c", "while True: pass"])
            stack.callback(other.wait)
            stack.callback(other.kill)
        yield


@pytest.mark.skipif(not _waits_are_counted(), reason="the kernel counts no waits")
@pytest.mark.parametrize("others", [0, 3])
def test_cpu_time_replaces_wall_time_only_where_one_thread_computes_and_others_interrupt_it(
    sides: Sides, others: int
) -> None:
    _write(sides, BUSY)
    names = ["computes", "sleeps", "threads", "processes", "own_clock"]
    cases = [_case(f"own.time_{name}", 60.0) for name in names]
    usable = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(usable)})  # of this process, and so of all that it starts
    try:
        with _other_work(others):
            rounds = dict(zip(names, _measure(sides, *cases), strict=True))
    finally:
        os.sched_setaffinity(0, usable)
    for name, case in zip(names, cases, strict=True):
        [a, b] = rounds[name]
        assert a.computes is b.computes is (name == "computes")
        if name != "computes":
            assert clock_of(case, [(a, b)]) == ""
    if others:
        assert clock_of(cases[0], [rounds["computes"]]) == "process"


def test_what_is_planted_is_as_long_in_cpu_time_beside_other_work() -> None:
    with _other_work(2 * (os.cpu_count() or 1)):
        spins = [_spin(time.thread_time, 0.005, time.perf_counter) for _ in range(60)]
    assert all(0.005 <= cpu_s < 0.007 for _, cpu_s in spins)
    assert sum(wall_s for wall_s, _ in spins) > 0.4, "other work was there"


USABLE = len(os.sched_getaffinity(0))


@pytest.mark.skipif(not _waits_are_counted(), reason="the kernel counts no waits")
@pytest.mark.parametrize(
    ("count", "imports", "cores"),
    [(1, "", USABLE), (2, "", 1), (1, THREAD, min(2, USABLE))],
    ids=["alone", "compared", "on a GPU"],
)
def test_compared_sides_that_compute_are_on_one_core_and_threads_of_a_gpu_on_two(
    sides: Sides, count: int, imports: str, cores: int
) -> None:
    code = """
import os
from noting import note

def time_it():
    sum(range(1_000_000))

def teardown():
    tasks = os.listdir("/proc/self/task")
    usable = {core for task in tasks for core in os.sched_getaffinity(int(task))}
    note("", f"{len(tasks)} {len(usable)}\\n")
"""
    case = dataclasses.replace(_write(sides, imports + code), can_fork=not imports)
    _measure(sides[:count], case, case, case)
    noted = _noted(sides).splitlines()
    expected = f"{2 if imports else 1} {cores}"
    assert expected in noted if count > 1 else set(noted) == {expected}


def test_sides_of_a_round_share_random_numbers_and_other_rounds_have_others(sides: Sides) -> None:
    for side in sides:
        (side.source / "torch.py").write_text("SEEDS = []\nmanual_seed = SEEDS.append\n")
    code = (
        "import random\nAT_IMPORT = random.random()\n"
        "class Suite:\n"
        "    def setup(self):\n        self.at_setup = random.random()\n"
        "    def track_import(self):\n        return AT_IMPORT\n"
        "    def track_setup(self):\n        return self.at_setup\n"
        "    def track_hash(self):\n        return hash('text') % 1000\n"
        "    def track_late_import(self):\n        import torch\n        return torch.SEEDS[0]\n"
    )
    names = ("import", "setup", "hash", "late_import")
    cases = [_write(sides, code, f"Suite.track_{name}") for name in names]
    first, again, other = (_measure(sides, *cases, seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert all(before == after for before, after in first)
    assert all(before != after for before, after in zip(first, other, strict=True))


def test_code_that_is_timed_in_a_process_of_its_own_runs_that_of_its_side(tmp_path: Path) -> None:
    quick, slow = _side(tmp_path, "A", 0.1), _side(tmp_path, "B", 0.3)
    planted = dataclasses.replace(slow, planted=0.5)
    [[before, after]] = _measure([quick, planted], _case("suite.timeraw_it"))
    assert after.value / before.value == pytest.approx(4.5, rel=0.2)


ENDING = """
import os, package, resource, time, warnings

def time_it():
"""
FORK_WARNS = f"""
{THREAD}
os.register_at_fork(before=lambda: warnings.warn("do not fork"))
"""
GREEDY = """
    if package.NAME == "B":
        held = [bytearray(1 << 20) for _ in range(1024)]
        time.sleep(60)
"""
KILLS_PARENT_OF_ALL = """
    if package.NAME == "A":
        os.kill(os.getsid(0), 9)
    time.sleep(60)
"""
NO_CLOCK = "    pass\n\ntime_it.timer = lambda: float('inf')"
EXITS = "    time.sleep(0.5)\n    os._exit(7)\n"
HUNGRY = "    resource.setrlimit(resource.RLIMIT_AS, (1 << 28, 1 << 28))\n    bytearray(1 << 30)"
FULL = "    open('/dev/full', 'wb', 0).write(b'x')"
ABSENT = """
    pass

def setup():
    time.sleep(0.5 if package.NAME == "A" else 0.0)  # the other side has answered long ago
    raise NotImplementedError("nobody has it")
"""
LATE = "A: did not answer in 4 s"

UNMEASURED = {
    "is skipped": (ABSENT, "nobody has it"),
    "raises": ("    raise RuntimeError('out of\\n  cheese')", "A: RuntimeError: out of cheese"),
    "asserts": ("    import mute", "A: AssertionError: assert 0 in <module> of mute.py, line 1"),
    "has no clock": (NO_CLOCK, "A: ValueError: a sample is not finite .* stood still"),
    "sleeps": ("    time.sleep(60)", LATE),
    "exits": (EXITS, "A: exit status 7"),
    "exits with threads": (EXITS + FORK_WARNS, "A: exit status 7"),
    "is killed": ("    os.kill(os.getpid(), 9)", "A: .* SIGKILL, perhaps because memory ran out"),
    "kills the parent of all": (KILLS_PARENT_OF_ALL, LATE),
    "is greedy": (GREEDY, "B: it used more than 0.5 GiB of memory and was stopped; .*"),
    "is refused memory": (HUNGRY, "A: MemoryError.*"),
    "fills the disk": (FULL, "A: OSError: .* No space left on device; make room on the disk.*"),
}


@pytest.mark.parametrize(("code", "reason"), UNMEASURED.values(), ids=UNMEASURED)
def test_what_cannot_be_measured_says_why(
    sides: Sides, monkeypatch: pytest.MonkeyPatch, code: str, reason: str
) -> None:
    """No process is left, and the next case is measured.

    What a module leaves behind when it is imported is no reason.
    """
    monkeypatch.setenv(MEMORY_LIMIT, "0.5")
    error = MachineError if code == FULL else UnmeasuredError
    case = _write(sides, ENDING + code, timeout=4.0)
    with _servers(sides) as servers:
        with pytest.raises(error, match=f"^{reason}$"):
            processes.measure_round(servers, case)
        assert len(processes.measure_round(servers, WORKS)) == 2
    wait_until_none_is_left(sides[0].suites)


def test_suites_are_imported_once_a_side_and_round_and_caches_made_once(sides: Sides) -> None:
    other = _write(sides, "def time_it():\n    sum(range(1000))\n").name
    names = WORKS.name, other, "suite.Cached.time_it", "suite.timeraw_it"
    sampling = Sampling(3, 3, math.inf, math.inf)
    measured = measure_cases(sides, list(map(_case, names)), sampling=sampling)
    assert [result.case for result in measured] == [names[0], *names[2:], other]
    assert sorted(_noted(sides, "-imports")) == list("AAABBB")
    assert sorted(_noted(sides, "-caches")) == ["A", "B"]


def test_an_import_and_setup_cache_may_take_longer_than_the_timeout(sides: Sides) -> None:
    code = """
import time
time.sleep(3)
class Cached:
    def setup_cache(self):
        time.sleep(3)
        return 1
    def time_it(self, cache):
        pass
"""
    case = _write(sides, code, "Cached.time_it", 2.0)
    assert len(_measure(sides, dataclasses.replace(case, cache_timeout=30.0))) == 1
    for path in sides[0].suites.parent.rglob("setup_cache*"):
        path.unlink()
    with pytest.raises(UnmeasuredError, match="did not answer in 2 s"):
        _measure(sides, case)


RUNAWAY = """
import itertools, os, package, subprocess, sys, time

time.perf_counter = time.monotonic = lambda: 0.0
CALLS = itertools.count()

def time_forks_once():
    sum(range(100_000))
    if next(CALLS) == 4:
        left = [sys.executable, "-c", "import time; time.sleep(60)  # measure.py", __file__]
        subprocess.Popen(left, start_new_session=True)
        os.fork()

def time_hangs_at_its_end():
    sum(range(1000))

def hang():
    if package.NAME == "B" and sys._getframe(2).f_code.co_name == "_measure_case":
        time.sleep(60)

time_hangs_at_its_end.teardown = hang
"""


def test_limits_hold_whatever_a_case_does_to_its_clock_and_leaves_behind(sides: Sides) -> None:
    names = "forks_once", "hangs_at_its_end", "forks_once"
    cases = [_write(sides, RUNAWAY, f"time_{name}", 2.0) for name in names]
    assert len(_measure(sides, *cases)) == 3
    wait_until_none_is_left(sides[0].suites)


def test_an_environment_that_a_case_changes_is_no_longer_used(sides: Sides) -> None:
    [packages] = environment().glob("lib/python*/site-packages")
    code = f"def time_it():\n    open({str(packages / 'helper.py')!r}, 'w')\n    raise OSError\n"
    with pytest.raises(MachineError, match=r"A: .+ was changed meanwhile \(helper.py\); correct"):
        _measure(sides, _write(sides, code))
    (packages / "helper.py").unlink()


VALUES = """
from noting import note

HELD = []

def teardown():
    note("", "end ")

def track_held():
    HELD.append(bytearray(50_000_000))
    return len(HELD)

def peakmem_little():
    return bytearray(10_000_000)
"""


def test_values_share_a_process_and_peak_memory_has_one_of_its_own(sides: Sides) -> None:
    held = bytearray(300_000_000)  # by the process that starts the others
    count = _write(sides, VALUES, "track_held")
    peak = MeasurableCase("y", "own.peakmem_little", 30.0, "memory", process="y")
    first, second, (little, _), after = _measure(sides, count, count, peak, count)
    assert (first, second, after) == tuple((SideResult(n),) * 2 for n in (1, 2, 1))
    assert 10e6 < little.value < 60e6 < len(held)
    assert _noted(sides) == 8 * "end "


@pytest.mark.parametrize(
    ("suite", "preload", "imports"),
    [
        ("import package, noted", (), 2 + 1 + 1),
        ("import pausing", (), 2 + 1 + 1),
        ("import threaded", (), 2 + 2 + 2),
        ("import os, noted; os.environ['THREADS'] = '1'", (), 2 + 2 + 2),
        ("import curious; assert curious.package", (), 2 + (1 + 2) + 2),
        ("import package", ("package", "noted", "broken", "no_such_module"), 1 + 1 + 1),
        ("import package", ("pausing",), 1 + 1 + 1),
        ("import package", ("threaded",), 3 + 3 + 3),
    ],
)
def test_what_is_the_same_on_all_sides_is_imported_once_for_all_that_is_timed(
    tmp_path: Path, suite: str, preload: tuple[str, ...], imports: int
) -> None:
    """A process with threads is not forked, unless they end before, as those of OpenBLAS do."""
    sides = [_side(tmp_path, name, preload=preload) for name in "AB"]
    (sides[0].source / "broken.py").write_text("raise ValueError")
    (sides[0].source / "noting").mkdir()  # which brings no module
    timed = _write(sides, f"{suite}\ndef time_it():\n    sum(range(1000))\n")
    sampling = Sampling(3, 3, math.inf, math.inf)
    measured = measure_cases(sides, [timed, _case("suite.track_it")], sampling=sampling)
    assert len(measured[0].rounds) == 3
    assert _noted(sides, "-modules") == "imported " * imports


def test_a_module_is_imported_only_where_a_case_needs_it() -> None:
    declared = Declared(preload=("json",), preload_for={"colorsys": "colours"})
    assert declared.preloaded_for(["a.time_grey", "a.time_colours"]) == ("json", "colorsys")
    assert declared.preloaded_for(["a.time_grey"]) == ("json",)


def test_each_side_has_the_variables_and_the_suites_of_its_own(tmp_path: Path) -> None:
    """Environments of asv that differ in ``env_nobuild`` alone have one Python."""
    sides = [_side(tmp_path, name, suites=f"of {name}", OWN=name) for name in "AB"]
    for side in sides:
        side.suites.mkdir()
        (side.suites / "own.py").write_text(
            "import noting, os\n\ndef time_it(): ...\n\n"
            f"noting.note('', '{side.name}' + os.environ['OWN'])\n"
        )
    _measure(sides, _case("own.time_it"))
    assert sorted(_noted(sides)) == list("AABB")


@pytest.mark.parametrize(
    ("on_gpu", "engine", "count"),
    [(False, "2.7.0", 4), (True, "2.7.0", 2), (False, "2.6.0", 2)],
)
def test_a_case_of_a_gpu_or_of_a_release_that_forks_badly_has_a_process_that_never_forked(
    tmp_path: Path, *, on_gpu: bool, engine: str, count: int
) -> None:
    sides = [_side(tmp_path, "A", engine=engine), _side(tmp_path, "B", engine="2.7.0")]
    case = dataclasses.replace(WORKS, can_fork=not on_gpu)
    _measure(sides, case, case)
    lineage = _noted(sides, "-lineage").splitlines()
    processes, parents = zip(*map(str.split, lineage), strict=True)
    assert len(set(processes)) == count, "cases that cannot fork share one"
    shared = set(parents) == {str(os.getpid())}
    assert shared is (on_gpu or engine == "2.6.0")
