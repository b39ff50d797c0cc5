"""One round: real processes that take samples in turn, and cases that cannot be measured."""

import atexit
import contextlib
import dataclasses
import functools
import io
import itertools
import math
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import venv
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import asv_runner
import pytest

from asv_watch.asv.declared import Declared
from asv_watch.asv.settings import EnvironmentSpec
from asv_watch.engine import processes
from asv_watch.engine.cases import MeasurableCase
from asv_watch.engine.measuring import measure_cases
from asv_watch.engine.processes import CaseFailedError, CaseSkippedError, SideProcess, SideResult
from asv_watch.engine.rounds import Sampling, clock_of
from asv_watch.engine.workplace import Side
from asv_watch.errors import MachineError
from asv_watch.machine.budget import Budget, BudgetSpentError
from asv_watch.machine.children import GIB, MEMORY_LIMIT, Child, Lines
from asv_watch.probes.measure import _waits_are_counted
from tests.engine.test_simulated_busy import BusyProcess, Clock
from tests.leftovers import DETACHES, measured_processes, runs, wait_until_none_is_left

SUITE = '''
import gc
import itertools
import os
import resource
import signal
import subprocess
import time

import package

CALLS = itertools.count()

with open(os.environ["NOTES"] + "-imports", "a") as notes:
    notes.write(package.NAME)


class Suite:
    """Notes who is sampled, and takes as long as its side says."""

    params = [
        *("works", "absent", "raises", "sleeps", "dies", "lineage", "dawdles"),
        *("killed", "hungry", "half", "other", "disk"),
    ]
    timer = time.process_time
    number = 1
    warmup_time = 0

    def setup(self, how):
        print("what a suite prints is no sample")
        if how == "absent":
            time.sleep(package.SECONDS)
            raise NotImplementedError("nobody has it")
        if how == "lineage":
            with open(os.environ["NOTES"], "a") as notes:
                notes.write(f"{os.getpid()} {os.getppid()}\\n")

    def time_it(self, how):
        if how == "raises":
            raise RuntimeError("out of cheese")
        if how == "sleeps":
            time.sleep(60)
        if how == "dies":
            os._exit(7)
        if how == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        if how == "hungry":
            resource.setrlimit(resource.RLIMIT_AS, (1 << 28, 1 << 28))
            bytearray(1 << 30)
        if how in ("half", "other"):
            [channel] = [x for x in gc.get_objects() if type(x).__name__ == "_Channel"]
            line = b'{"seconds": ' if how == "half" else b'{"status": null}\\n'
            os.write(channel._answers.fileno(), line)
            time.sleep(60)
        if how == "disk":
            with open("/dev/full", "w") as full:
                full.write("x")
        if how in ("lineage", "dawdles"):
            is_slow = how == "dawdles" and next(CALLS) > 4
            time.sleep(2.5 if is_slow else 0.01)
            return
        with open(os.environ["NOTES"], "a") as notes:
            notes.write(package.NAME + str(len(os.sched_getaffinity(0))))
        end = time.process_time() + package.SECONDS
        while time.process_time() < end:
            pass


class Suspended:
    """Side B is stopped for a second in a sample, as a laptop that goes to sleep."""

    timer = time.perf_counter
    number = 1
    warmup_time = 0

    calls = 0

    def time_it(self):
        self.calls += 1
        if package.NAME == "B" and self.calls == 6:  # the warm-up of 0.1 s has 5 at most
            subprocess.Popen(["sh", "-c", f"sleep 1; kill -CONT {os.getpid()}"])
            os.kill(os.getpid(), signal.SIGSTOP)
        time.sleep(0.02)


class Cached:
    def setup_cache(self):
        with open(os.environ["NOTES"] + "-caches", "a") as notes:
            notes.write(package.NAME)
        return 3

    def time_it(self, three):
        assert three == 3


def timeraw_it():
    return "time.sleep(package.SECONDS)", "import package, time"
'''
VALUES = """
import os
import sys

HELD = []
PRELOADED = "colorsys" in sys.modules

def teardown():
    with open(os.environ["NOTES"], "a") as notes:
        notes.write("end ")

def track_held():
    HELD.append(bytearray(50_000_000))
    return len(HELD)

def peakmem_little():
    return bytearray(10_000_000)

def track_preloaded():
    return int(PRELOADED)

def time_preloaded():
    assert PRELOADED
"""


MEETING = """
import os
import time
from pathlib import Path

import package

def peakmem_of_both():
    folder = Path(os.environ["NOTES"]).parent
    (folder / f"here-{package.NAME}").touch()
    while len(list(folder.glob("here-*"))) < 2:
        time.sleep(0.01)

def peakmem_of_one():
    here = Path(os.environ["NOTES"]).parent / "here"
    here.mkdir()
    time.sleep(0.1)
    here.rmdir()
"""


@pytest.fixture(autouse=True)
def suites(tmp_path: Path) -> Path:
    folder = tmp_path / "benchmarks"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "suite.py").write_text(SUITE)
    return folder


NOTED = """
import os
with open(os.environ["NOTES"] + "-modules", "a") as notes:
    notes.write("imported ")
"""
THREAD = """
import threading, time
threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
"""
LEAVING = """
import subprocess
subprocess.Popen(["sleep", "0.1"])
"""
PAUSING_THREAD = """
import os, threading, time
over = threading.Event()
threading.Thread(target=over.wait, daemon=True).start()

def end_thread():
    over.set()
    while len(os.listdir("/proc/self/task")) > 1:
        time.sleep(0.001)

os.register_at_fork(before=end_thread)
"""
CURIOUS = """
try:
    import package
except ImportError:
    package = None
"""


Sides = tuple[Side, Side]


@functools.cache
def environment() -> Path:
    """An environment that has asv_runner, and modules that note when they are imported."""
    folder = Path(tempfile.mkdtemp(prefix="environment-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    venv.create(folder, symlinks=True)
    [packages] = folder.glob("lib/python*/site-packages")
    (packages / "asv_runner").symlink_to(Path(asv_runner.__file__).parent)
    (packages / "noted.py").write_text(NOTED)
    (packages / "threaded.py").write_text(NOTED + THREAD)
    (packages / "pausing.py").write_text(NOTED + PAUSING_THREAD)
    (packages / "curious.py").write_text(NOTED + CURIOUS)
    (packages / "leaving.py").write_text(LEAVING)
    return folder


def _side(folder: Path, name: str, seconds: float = 0.002, engine: str = "") -> Side:
    source = folder / name
    source.mkdir()
    (source / "package.py").write_text(f"NAME = {name!r}\nSECONDS = {seconds}\n")
    variables = {"NOTES": str(folder / "notes")}
    declared = Declared(fork_safe_from={"engine": "2.7"})
    return Side(
        name,
        source,
        EnvironmentSpec(
            {"engine": engine} if engine else {}, "", environment(), variables, declared
        ),
        folder / "benchmarks",
    )


@pytest.fixture
def sides(tmp_path: Path) -> Sides:
    return _side(tmp_path, "A"), _side(tmp_path, "B")


@contextlib.contextmanager
def _servers(
    sides: Sequence[Side], seed: int = 1, preload: Sequence[str] = ()
) -> Iterator[list[SideProcess]]:
    with contextlib.ExitStack() as stack:
        yield [
            stack.enter_context(SideProcess(side, side.source, seed, preload=preload))
            for side in sides
        ]


def _measure(
    sides: Sequence[Side],
    *cases: MeasurableCase,
    number: int = 0,
    seed: int = 1,
    preload: Sequence[str] = (),
) -> list[tuple[SideResult, ...]]:
    """Measure a round of each case, with the same servers."""
    with _servers(sides, seed, preload) as servers:
        return [processes.measure_round(servers, case, number=number) for case in cases]


def _ratio(numbers: Sequence[SideResult]) -> float:
    before, after = numbers
    return after.value / before.value


def _case(index: int, timeout: float = 30.0) -> MeasurableCase:
    return MeasurableCase("a case", f"suite.Suite.time_it-{index}", timeout)


def _write(
    suites: Path, code: str, name: str = "time_it", timeout: float = 30.0
) -> MeasurableCase:
    """Write a suite and return its case; without ``time_`` it is one of a value."""
    (suites / "own.py").write_text(code)
    is_timed = "time_" in name
    return MeasurableCase("x", f"own.{name}", timeout, "time" if is_timed else "value")


@pytest.mark.parametrize(
    ("names", "number", "orders"),
    [
        ("A", 0, "A"),
        ("AB", 1, "BA AB"),
        ("ABC", 0, "ABC BCA CAB CBA ACB BAC"),
        ("ABCD", 1, "BCAD CDBA DACB ABDC"),
    ],
)
def test_all_sides_are_sampled_alike_on_one_core(
    tmp_path: Path, names: str, number: int, orders: str
) -> None:
    sides = [_side(tmp_path, name) for name in names]
    [numbers] = _measure(sides, _case(0), number=number)
    assert all(0.0015 < number.value < 0.02 for number in numbers)
    notes = (tmp_path / "notes").read_text()
    turns = list(itertools.islice(itertools.cycle(orders.split()), processes.MOST_SAMPLES))
    assert any(  # before that they warm up
        notes[::2].endswith("".join(turns[:samples]))
        for samples in range(processes.FEWEST_SAMPLES, processes.MOST_SAMPLES + 1)
    )
    assert set(notes[1::2][-len(names) * processes.FEWEST_SAMPLES :]) == {"1"}


@pytest.mark.parametrize("sides", range(2, 9))
def test_each_side_stands_in_each_place_and_follows_each_other_side_equally_often(
    sides: int,
) -> None:
    orders = processes.sampling_orders(sides, number=0)
    places = Counter((place, side) for order in orders for place, side in enumerate(order))
    followed = Counter(pair for order in orders for pair in itertools.pairwise(order))
    times = len(orders) // sides
    assert places == dict.fromkeys(itertools.product(range(sides), repeat=2), times)
    assert followed == dict.fromkeys(itertools.permutations(range(sides), 2), times)


def test_a_sample_is_timed_by_the_wall_and_by_the_processor(tmp_path: Path, suites: Path) -> None:
    code = "import time\ndef time_it():\n    time.sleep(0.03)\n    sum(range(1_000_000))\n"
    case = _write(suites, code)
    [[number]] = _measure([_side(tmp_path, "A")], case)
    assert number.wall is not None
    assert number.cpu is not None
    assert number.value == pytest.approx(number.wall, rel=0.01)
    assert 0 < number.cpu < number.wall - 0.025
    side = _side(tmp_path, "B")
    declared = Declared(clock="process")
    environment = dataclasses.replace(side.environment, declared=declared)
    side = dataclasses.replace(side, environment=environment)
    [[number]] = _measure([side], case)
    assert number.wall is not None
    assert number.value == pytest.approx(number.cpu, rel=0.01)
    assert number.value < number.wall - 0.025
    assert clock_of(case, [(number,)]) == number.clock == "process"
    [[number]] = _measure([side], MeasurableCase("x", "suite.timeraw_it", 30.0))
    assert (number.cpu, number.clock) == (None, ""), "its own process has its own clock"


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
    monkeypatch: pytest.MonkeyPatch,
    *,
    computes: bool,
    cpu_clock: bool,
    ready_s: float,
    expected: int,
) -> None:
    clock, taken = Clock(), 0

    def samples() -> Iterator[SideResult]:
        """Samples that take 0.4 s, of which the process computes for 0.02 s."""
        nonlocal taken
        while True:
            clock.now, taken = clock.now + 0.4, taken + 1
            waited = taken % 16 == 3  # as for a page of memory
            yield SideResult(0.4, 0.4, 0.02, computes=computes and not waited)

    monkeypatch.setattr(processes, "time", clock)
    monkeypatch.setattr(processes, "_pin", lambda *_, **__: None)
    busy = BusyProcess(clock, samples(), ready_s / 2, cpu_clock, computes)
    servers: Any = [busy, busy]
    numbers = processes.measure_round(servers, _case(0))
    assert taken == 2 * expected
    assert [number.computes for number in numbers] == [computes] * 2


BUSY = """
import subprocess
import threading
import time

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


@pytest.fixture
def one_core() -> Iterator[None]:
    """Pins this process, and so all that it starts, to one core."""
    usable = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(usable)})
    yield
    os.sched_setaffinity(0, usable)


FORGING = """
import json
dumps = json.dumps
json.dumps = lambda answer: dumps(answer | {{"pid": {process}}} if "pid" in answer else answer)

def time_it():
    sum(range(1000))
"""


def test_a_process_that_a_suite_names_as_its_own_stays_where_it_is(
    sides: Sides, suites: Path
) -> None:
    started = ["sh", "-c", "sleep 60 >/dev/null 2>&1 & echo $!"]  # in the session of the tests
    stranger = int(subprocess.run(started, stdout=subprocess.PIPE, check=True).stdout)
    cores = os.sched_getaffinity(stranger)
    try:
        _measure(sides, _write(suites, FORGING.format(process=stranger)))
        assert os.sched_getaffinity(stranger) == cores
    finally:
        os.kill(stranger, signal.SIGKILL)


@pytest.mark.skipif(not _waits_are_counted(), reason="the kernel counts no waits")
@pytest.mark.usefixtures("one_core")
@pytest.mark.parametrize("others", [0, 3])
def test_cpu_time_replaces_wall_time_only_where_one_thread_computes_and_others_interrupt_it(
    sides: Sides, suites: Path, others: int
) -> None:
    (suites / "busy.py").write_text(BUSY)
    names = ["computes", "sleeps", "threads", "processes", "own_clock"]
    cases = [MeasurableCase(name, f"busy.time_{name}", 60.0) for name in names]
    with contextlib.ExitStack() as stack:
        for _ in range(others):
            burner = subprocess.Popen([sys.executable, "-c", "while True: pass"])
            stack.callback(burner.wait)
            stack.callback(burner.kill)
        rounds = dict(zip(names, _measure(sides, *cases), strict=True))
    for case in cases:
        [a, b] = rounds[case.name]
        assert a.computes is b.computes is (case.name == "computes")
        if case.name != "computes":
            assert clock_of(case, [(a, b)]) == ""
    if others:
        assert clock_of(cases[0], [rounds["computes"]]) == "process"


@pytest.mark.skipif(not _waits_are_counted(), reason="the kernel counts no waits")
@pytest.mark.parametrize("sides", [1, 2])
def test_sides_that_compute_by_the_clock_of_asv_are_on_one_core(
    tmp_path: Path, suites: Path, sides: int
) -> None:
    case = _write(
        suites,
        "import os\n"
        "def time_it():\n    sum(range(1_000_000))\n"
        "def teardown():\n"
        "    with open(os.environ['NOTES'], 'a') as notes:\n"
        "        notes.write(f'{len(os.sched_getaffinity(0))} ')\n",
    )
    _measure([_side(tmp_path, name) for name in "AB"[:sides]], case, case, case)
    cores = set((tmp_path / "notes").read_text().split())
    usable = str(len(os.sched_getaffinity(0)))
    assert cores >= {"1"} if sides > 1 else cores == {usable}


def test_sides_of_one_round_have_the_same_random_numbers_and_another_round_has_others(
    sides: Sides, suites: Path
) -> None:
    (suites / "dice.py").write_text(
        "import random\nAT_IMPORT = random.random()\n"
        "class Suite:\n"
        "    def setup(self):\n        self.at_setup = random.random()\n"
        "    def track_import(self):\n        return AT_IMPORT\n"
        "    def track_setup(self):\n        return self.at_setup\n"
        "    def track_hash(self):\n        return hash('text') % 1000\n"
    )
    names = ("import", "setup", "hash")
    cases = [MeasurableCase(x, f"dice.Suite.track_{x}", 30.0, "value") for x in names]
    first, again, other = (_measure(sides, *cases, seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert all(before == after for before, after in first)
    assert all(before != after for before, after in zip(first, other, strict=True))


def test_a_generator_that_is_imported_after_the_seed_was_set_has_it_too(
    tmp_path: Path, suites: Path
) -> None:
    side = _side(tmp_path, "A")
    (side.source / "torch.py").write_text("SEEDS = []\nmanual_seed = SEEDS.append\n")
    code = (
        "class Suite:\n"
        "    def setup(self):\n        import torch\n        self.seeds = torch.SEEDS\n"
        "    def track_seed(self):\n        return self.seeds[0]\n"
    )
    case = _write(suites, code, "Suite.track_seed")
    [[number]] = _measure([side], case, seed=5)
    assert number.value == 5


@pytest.mark.parametrize("hungry", ["A", "B"])
def test_a_case_that_takes_too_much_memory_is_stopped(
    sides: Sides, suites: Path, hungry: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(MEMORY_LIMIT, "0.5")
    code = (
        "import package\nimport time\n"
        "def time_it():\n"
        f"    if package.NAME == {hungry!r}:\n"
        "        held = [bytearray(1 << 20) for _ in range(1024)]\n        time.sleep(30)\n"
        "def track_it():\n    time_it()\n    return 1\n"
    )
    message = f"^{hungry}: it used more than 0.5 GiB of memory and was stopped"
    for name in ("time_it", "track_it"):
        with pytest.raises(CaseFailedError, match=message):
            _measure(sides, _write(suites, code, name))


def test_code_that_is_timed_in_a_process_of_its_own_runs_that_of_its_side(tmp_path: Path) -> None:
    quick, slow = _side(tmp_path, "A", 0.1), _side(tmp_path, "B", 0.3)
    [numbers] = _measure(
        (quick, dataclasses.replace(slow, planted=0.5)),
        MeasurableCase("x", "suite.timeraw_it", 30.0),
    )
    assert _ratio(numbers) == pytest.approx(4.5, rel=0.2)


@pytest.mark.parametrize(
    ("index", "timeout", "error", "output"),
    [
        (1, 30.0, CaseSkippedError, "^nobody has it$"),
        (2, 30.0, CaseFailedError, "^A: RuntimeError: out of cheese$"),
        (3, 2.0, CaseFailedError, "^A: did not answer in 2 s$"),
        (4, 30.0, CaseFailedError, "^A: .*(exit status 7|no sample)"),
        (7, 30.0, CaseFailedError, "^A: the process was ended by SIGKILL, perhaps because memory"),
        (8, 30.0, CaseFailedError, "^A: MemoryError"),
        (9, 2.0, CaseFailedError, "^A: did not answer in 2 s$"),
        (10, 30.0, CaseFailedError, "^A: wrote another answer than its process gives$"),
        (11, 30.0, MachineError, "^A: OSError: .* No space left on device; make room on the disk"),
    ],
)
def test_what_cannot_be_measured_says_why_and_leaves_no_process(
    suites: Path, sides: Sides, index: int, timeout: float, error: type[Exception], output: str
) -> None:
    with pytest.raises(error, match=output):
        _measure(sides, _case(index, timeout))
    wait_until_none_is_left(suites)


def test_an_interrupt_ends_a_case_that_would_take_minutes_more(suites: Path, sides: Sides) -> None:
    slow = "import time\ndef track_it():\n    time.sleep(300)\n"
    for case in _case(3, timeout=300.0), _write(suites, slow, "track_it", 300.0):
        started = time.monotonic()
        with pytest.raises(BudgetSpentError), Budget(5.0, time.monotonic).enforced():
            _measure(sides, case)
        assert time.monotonic() - started < 20
        assert not measured_processes(suites)


def test_a_round_that_never_ends_is_stopped(sides: Sides) -> None:
    """Each sample is quicker than the timeout, but all of them together take too long."""
    started = time.monotonic()
    with pytest.raises(CaseFailedError, match=r"^[AB]: finished no round in 16 s$"):
        _measure(sides, _case(6, timeout=4.0))
    assert time.monotonic() - started < 60


def test_a_side_that_answered_long_ago_is_not_waited_for(tmp_path: Path) -> None:
    slow, quick = _side(tmp_path, "A", 0.5), _side(tmp_path, "B")
    started = time.monotonic()
    with pytest.raises(CaseSkippedError, match="nobody has it"):
        _measure((slow, quick), _case(1))
    assert time.monotonic() - started < 20


def test_a_suspended_sample_makes_no_difference(sides: Sides) -> None:
    [numbers] = _measure(sides, MeasurableCase("x", "suite.Suspended.time_it", 30.0))
    assert _ratio(numbers) == pytest.approx(1.0, abs=0.2)


def test_a_suite_is_imported_once_for_a_server_and_its_cache_made_once_for_a_side(
    tmp_path: Path, sides: Sides
) -> None:
    cached = MeasurableCase("x", "suite.Cached.time_it", 30.0)
    for servers in (1, 2):
        _measure(sides, _case(0), cached, _case(0))
        assert len((tmp_path / "notes-imports").read_text()) == 2 * servers
        assert sorted((tmp_path / "notes-caches").read_text()) == ["A", "B"]


def test_a_suite_is_imported_once_a_side_and_round_whatever_the_order_of_the_cases(
    suites: Path, tmp_path: Path
) -> None:
    (suites / "other.py").write_text("def time_it():\n    sum(range(1000))\n")
    names = "suite.Suite.time_it-0", "other.time_it", "suite.Cached.time_it", "suite.timeraw_it"
    cases = [MeasurableCase(name, name, 30.0) for name in names]
    measured = measure_cases([_side(tmp_path, "A")], cases)
    assert [result.case for result in measured] == [names[0], names[2], names[3], names[1]]
    assert (tmp_path / "notes-imports").read_text() == "A"


def test_an_import_and_setup_cache_may_take_longer_than_the_timeout_of_their_cases(
    tmp_path: Path, sides: Sides, suites: Path
) -> None:
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
    case = _write(suites, code, "Cached.time_it", 2.0)
    assert len(_measure(sides, dataclasses.replace(case, cache_timeout=30.0))) == 1
    for path in tmp_path.rglob("setup_cache*"):
        path.unlink()
    with pytest.raises(CaseFailedError, match="did not answer in 2 s"):
        _measure(sides, case)


RUNAWAY = """
import gc
import itertools
import os
import sys
import time

import package

time.perf_counter = time.monotonic = lambda: 0.0
CALLS = itertools.count()

def time_forks_once():
    sum(range(100_000))
    if next(CALLS) == 4:
        os.fork()

def time_floods():
    [channel] = [x for x in gc.get_objects() if type(x).__name__ == "_Channel"]
    while True:
        os.write(channel._answers.fileno(), b'{"modules": null}\\n')

def time_hangs_at_its_end():
    sum(range(1000))

def hang():
    if package.NAME == "B" and sys._getframe(2).f_code.co_name == "_measure_case":
        time.sleep(60)

time_hangs_at_its_end.teardown = hang
"""


def test_limits_hold_whatever_a_case_does_to_its_clock_its_process_and_its_answers(
    tmp_path: Path, sides: Sides, suites: Path
) -> None:
    (suites / "runaway.py").write_text(RUNAWAY)
    names = "forks_once", "hangs_at_its_end", "forks_once", "floods"
    cases = [MeasurableCase(name, f"runaway.time_{name}", 2.0) for name in names]
    assert len(_measure(sides, *cases[:3])) == 3
    with pytest.raises(CaseFailedError, match="did not answer in 2 s"):
        _measure(sides, cases[3])
    wait_until_none_is_left(tmp_path)


def test_an_environment_that_a_case_changes_is_no_longer_used(
    tmp_path: Path, suites: Path
) -> None:
    [packages] = environment().glob("lib/python*/site-packages")
    code = f"def time_it():\n    open({str(packages / 'helper.py')!r}, 'w')\n    raise OSError\n"
    with pytest.raises(MachineError, match=r"A: .+ was changed meanwhile \(helper.py\); correct"):
        _measure([_side(tmp_path, "A")], _write(suites, code))
    (packages / "helper.py").unlink()


def test_values_share_a_process_where_they_may_and_peak_memory_has_one_of_its_own(
    suites: Path, tmp_path: Path, sides: Sides
) -> None:
    (suites / "values.py").write_text(VALUES)
    count = MeasurableCase("x", "values.track_held", 30.0, "count")
    peak = MeasurableCase("y", "values.peakmem_little", 30.0, "memory", process="y")
    first, second, (little, _), after = _measure(sides, count, count, peak, count)
    assert (first, second, after) == tuple((SideResult(n),) * 2 for n in (1, 2, 1))
    assert 10e6 < little.value < 60e6
    assert (tmp_path / "notes").read_text() == 8 * "end "


@pytest.mark.parametrize(("cores", "sides"), [(1, "one"), (2, "both")])
def test_as_many_sides_as_cores_measure_peak_memory_at_the_same_time(
    suites: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cores: int, sides: str
) -> None:
    monkeypatch.setattr(processes, "usable_cores", lambda: cores)
    (suites / "meeting.py").write_text(MEETING)
    case = MeasurableCase("x", f"meeting.peakmem_of_{sides}", 30.0, "memory", process="x")
    assert len(_measure([_side(tmp_path, "A"), _side(tmp_path, "B")], case)) == 1


def test_modules_are_imported_before_cases_that_time_something_alone(
    suites: Path, sides: Sides
) -> None:
    (suites / "values.py").write_text(VALUES)
    preload = ("colorsys", "broken", "no_such_module")
    (suites.parent / "A" / "broken.py").write_text("raise ValueError")
    timed = MeasurableCase("x", "values.time_preloaded", 30.0)
    _measure(sides, timed, preload=preload)
    count = MeasurableCase("x", "values.track_preloaded", 30.0, "count")
    [value] = _measure(sides, count, preload=preload)
    assert value == (SideResult(0), SideResult(0))


@pytest.mark.parametrize(("module", "imports"), [("noted", 1), ("threaded", 3), ("pausing", 1)])
def test_what_no_side_brings_is_imported_once_for_all_sides(
    tmp_path: Path, sides: Sides, module: str, imports: int
) -> None:
    """A process with threads is not forked, so that each side then starts its own.

    It is forked if they end before a fork, as those of OpenBLAS do.
    """
    _measure(sides, _case(0), preload=("package", module))
    assert (tmp_path / "notes-modules").read_text().split() == ["imported"] * imports
    assert sorted((tmp_path / "notes-imports").read_text()) == ["A", "B"]


@pytest.mark.parametrize(
    ("importing", "preload"),
    [
        (f"{THREAD}\nos.register_at_fork(before=lambda: warnings.warn('do not fork'))", ()),
        ("", ("leaving",)),
    ],
)
def test_warnings_of_forks_and_processes_left_by_modules_are_no_reason_of_a_case_that_ends(
    sides: Sides, suites: Path, importing: str, preload: tuple[str, ...]
) -> None:
    ends = "def time_it():\n    time.sleep(0.5)\n    os._exit(7)\n"
    case = _write(suites, f"import os, time, warnings\n{importing}\n{ends}")
    with pytest.raises(CaseFailedError, match="A: exit status 7"):
        _measure(sides, case, preload=preload)


@pytest.mark.parametrize(
    ("suite", "imports"),
    [
        ("import package, noted", 2 + 1 + 1),
        ("import pausing", 2 + 1 + 1),
        ("import threaded", 2 + 2 + 2),
        ("import os, noted; os.environ['THREADS'] = '1'", 2 + 2 + 2),
        ("import curious; assert curious.package", 2 + (1 + 2) + 2),
    ],
)
def test_what_suites_import_is_imported_once_for_all_sides_if_it_is_the_same_there(
    tmp_path: Path, sides: Sides, suites: Path, suite: str, imports: int
) -> None:
    case = _write(suites, f"{suite}\ndef time_it():\n    sum(range(1000))\n")
    [measured] = measure_cases(sides, [case], sampling=Sampling(3, 3, math.inf, math.inf))
    assert len(measured.rounds) == 3
    assert (tmp_path / "notes-modules").read_text().split() == ["imported"] * imports


def test_a_module_is_imported_only_where_a_case_needs_it() -> None:
    declared = Declared(preload=("json",), preload_for={"colorsys": "colours"})
    assert declared.preloaded_for(["a.time_grey", "a.time_colours"]) == ("json", "colorsys")
    assert declared.preloaded_for(["a.time_grey"]) == ("json",)


def test_a_server_goes_on_after_cases_that_were_skipped_failed_or_hung(sides: Sides) -> None:
    with _servers(sides) as servers:
        for index, timeout, error in (
            (1, 30.0, CaseSkippedError),
            (2, 30.0, CaseFailedError),
            (3, 3.0, CaseFailedError),
            (4, 30.0, CaseFailedError),
        ):
            with pytest.raises(error):
                processes.measure_round(servers, _case(index, timeout))
            assert len(processes.measure_round(servers, _case(0))) == 2


def test_all_threads_of_a_case_of_a_gpu_are_on_two_cores(tmp_path: Path, suites: Path) -> None:
    code = f"""{THREAD}
import os

def time_it():
    tasks = os.listdir("/proc/self/task")
    cores = {{core for task in tasks for core in os.sched_getaffinity(int(task))}}
    with open(os.environ["NOTES"], "w") as notes:
        notes.write(f"{{len(tasks)}} {{len(cores)}}")
    time.sleep(0.01)
"""
    case = dataclasses.replace(_write(suites, code), can_fork=False)
    _measure([_side(tmp_path, "A")], case)
    tasks, cores = map(int, (tmp_path / "notes").read_text().split())
    assert tasks > 1
    assert cores == min(2, len(os.sched_getaffinity(0)))


def test_each_side_has_the_variables_and_the_suites_of_its_own(tmp_path: Path) -> None:
    """Environments of asv that differ in ``env_nobuild`` alone have one Python."""
    sides = []
    for name in "AB":
        side = _side(tmp_path, name)
        suites = tmp_path / f"benchmarks of {name}"
        suites.mkdir()
        (suites / "own.py").write_text(
            "import os\ndef time_it(): pass\n"
            f"with open(os.environ['NOTES'], 'a') as n: n.write('{name}' + os.environ['OWN'])\n"
        )
        variables = {**side.environment.variables, "OWN": name}
        environment = dataclasses.replace(side.environment, variables=variables)
        sides.append(dataclasses.replace(side, environment=environment, suites=suites))
    _measure(sides, MeasurableCase("a case", "own.time_it", 30.0))
    assert sorted((tmp_path / "notes").read_text()) == list("AABB")


def test_what_a_process_leaves_behind_ends_with_it_also_if_it_ends_in_time() -> None:
    child = Child([sys.executable, "-c", DETACHES], stdout=subprocess.PIPE)
    assert child.process.stdout is not None
    answers = Lines(child.process.stdout, GIB)
    left = int(answers.read(time.monotonic() + 60))
    assert runs(left)
    parent = processes.Parent(child, 1)
    parent.leave(processes.Connection(parent, io.BytesIO(), answers), kill=False)
    assert not runs(left)
    assert child.process.returncode == 0


def test_nothing_is_left_where_the_parent_of_both_sides_was_killed(
    tmp_path: Path, sides: Sides, suites: Path
) -> None:
    code = (
        "import os, package, pathlib, signal, time\n"
        "def parent_of(process):\n"
        "    stat = pathlib.Path(f'/proc/{process}/stat').read_text()\n"
        "    return int(stat.rpartition(')')[2].split()[1])\n"
        "def time_it():\n"
        "    server = parent_of(os.getppid())\n"
        "    if package.NAME == 'A':  # then the other's parent is this test\n"
        "        os.kill(parent_of(server), signal.SIGKILL)\n"
        "    time.sleep(60)\n"
    )
    with pytest.raises(CaseFailedError, match="did not answer in 2 s"):
        _measure(sides, _write(suites, code, timeout=2.0))
    wait_until_none_is_left(tmp_path)


@pytest.mark.parametrize(
    ("name", "engine", "count"),
    [("a case", "2.7.0", 4), ("a case('cuda')", "2.7.0", 2), ("a case", "2.6.0", 2)],
)
def test_a_case_of_a_gpu_or_of_a_release_that_forks_badly_has_a_process_that_never_forked(
    tmp_path: Path, name: str, engine: str, count: int
) -> None:
    sides = _side(tmp_path, "A", engine=engine), _side(tmp_path, "B", engine="2.7.0")
    on_gpu = "cuda" in name
    case = MeasurableCase(name, "suite.Suite.time_it-5", 30.0, can_fork=not on_gpu)
    _measure(sides, case, case)
    processes, parents = zip(
        *(line.split() for line in (tmp_path / "notes").read_text().splitlines()), strict=True
    )
    assert len(set(processes)) == count, "cases that cannot fork share one"
    shared = set(parents) == {str(os.getpid())}
    assert shared is (on_gpu or engine == "2.6.0")
