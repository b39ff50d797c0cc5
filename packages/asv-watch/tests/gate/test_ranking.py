"""The cases that run what a diff changed come first, one of each benchmark before further ones."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from asv_watch.asv.settings import EnvironmentSpec
from asv_watch.engine.cases import MeasurableCase
from asv_watch.engine.workplace import Side
from asv_watch.gate import choice
from asv_watch.gate.changes import Changed, read_changes
from asv_watch.gate.choice import Choice, Profiler, rank
from asv_watch.machine.budget import Budget
from asv_watch.machine.children import GIB, MEMORY_LIMIT, limit_in_words
from tests.conftest import commit

PACKAGE = """
import functools

TABLE = 3


def decorate(function):
    @functools.wraps(function)
    def call(size):
        return function(size)
    return call


@decorate
def near(size):
    return inner(size) + 1


def inner(size):
    total = 0
    for _ in range(size):
        total += sum(range(50))
    return total


def far(size):
    return sum(range(size))
"""
NEARER = PACKAGE.replace("+ 1", "+ 2")
SUITE = """
import package

class Suite:
    params = [10, 10000]

    def setup(self, size):
        self.made = package.inner(1) if size == 10 else 0

    def time_far(self, size):
        package.far(1000 * size)

    def time_half(self, size):
        package.far(50 * size)
        package.near(size)

    def time_near(self, size):
        package.near(size)

def time_raises():
    raise RuntimeError("out of cheese")

time_raises.timeout = 3
"""


Change = Callable[[dict[str, str]], tuple[Side, Changed]]


@pytest.fixture
def repository(make_repository: Callable[..., Path]) -> Path:
    return make_repository(
        {"package.py": PACKAGE, "benchmarks/__init__.py": "", "benchmarks/suite.py": SUITE}
    )


@pytest.fixture
def change(repository: Path, made_environment: Path) -> Change:
    """Commits files; returns the side after that, and what it changed of the package."""

    def commit_files(files: dict[str, str]) -> tuple[Side, Changed]:
        after = commit(repository, files, "Change")
        changed = read_changes(repository, "HEAD~1", after, ["package.py"])
        environment = EnvironmentSpec({}, "", made_environment)
        return Side("head", repository, environment, repository / "benchmarks"), changed

    return commit_files


def _case(name: str, index: int) -> MeasurableCase:
    size = (10, 10000)[index]
    return MeasurableCase(f"suite.Suite.{name}({size})", f"suite.Suite.{name}-{index}", 30.0)


def _named(*names: str) -> list[MeasurableCase]:
    return [MeasurableCase(name, name, 30.0) for name in names]


def _profiled(side: Side, cases: list[MeasurableCase], changed: Changed) -> Profiler:
    with Profiler(side, cases, changed) as profiler:
        profiler.profile_for(60.0)
    assert profiler.is_done
    return profiler


def _choice(cases: list[MeasurableCase], changed: Changed, profiling_s: float = 60.0) -> Choice:
    return Choice(cases, Budget(100.0, time.monotonic), {}, changed, profiling_s)


def _changed(
    functions: tuple[tuple[str, int, int], ...], *identifiers: str, is_traceable: bool = True
) -> Changed:
    names = frozenset({"package", *identifiers})
    return Changed(functions, frozenset(identifiers), names, is_traceable)


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        ("range(50)", "range(51)", _changed((("package.py", 19, 23),), "inner")),
        ("    total = 0\n", "", _changed((("package.py", 19, 22),), "inner")),
        ("@decorate", "@decorate  # x", _changed((("package.py", 14, 16),), "near")),
        ("TABLE = 3", "TABLE = 4", _changed((("package.py", 1, 10**9),), is_traceable=False)),
        ("def far", "# Far away.\ndef far", _changed(())),
    ],
    ids=["a line", "a removed line", "a decorator", "a constant", "a comment"],
)
def test_a_diff_is_read_as_the_functions_that_it_changed(
    repository: Path, old: str, new: str, changed: Changed
) -> None:
    after = commit(repository, {"package.py": PACKAGE.replace(old, new)}, "Change")
    assert read_changes(repository, "HEAD~1", after, ["package.py"]) == changed


def test_cases_come_in_the_order_of_the_time_in_changed_functions(change: Change) -> None:
    side, changed = change({"package.py": NEARER})
    assert changed.names == {"package", "near"}
    names = ("time_far", "time_half", "time_near")
    cases = [_case(name, index) for name in names for index in (0, 1)]
    cases += _named("suite.time_raises")
    profiler = _profiled(side, cases, changed)
    shares = profiler.shares
    assert "suite.time_raises" not in shares
    assert profiler.failures == {"suite.time_raises": "RuntimeError: out of cheese"}
    assert shares["suite.Suite.time_far-1"] == 0
    assert shares["suite.Suite.time_near-1"] > max(0.9, shares["suite.Suite.time_half-1"])
    in_order = [
        *("suite.Suite.time_near-1", "suite.Suite.time_half-1"),
        "suite.time_raises",  # nothing is known of it
        *("suite.Suite.time_near-0", "suite.Suite.time_half-0"),
    ]
    known = zip(in_order, (0.9, 0.5, 0.0, 0.8, 0.3), strict=True)
    shares |= {case: share for case, share in known if share}
    assert [case.identity for case in rank(cases, shares, {}, changed)] == in_order


def test_code_that_no_profile_sees_is_found_by_its_names_in_c_and_in_python(
    make_repository: Callable[..., Path],
) -> None:
    code = "int count(int a) {\n  return a;\n}\n\n"
    code += "PyObject *\nPyP_AllDistinct(PyObject *m) {\n  return m;\n}\n"
    path = "src/package/alldistinct.c"
    repository = make_repository({path: code})
    after = commit(repository, {path: code.replace("return m", "return 0")}, "Change")
    changed = read_changes(repository, "HEAD~1", after, [path])
    assert not changed.is_traceable
    functions = ("itertools.count", "others.all_distinct", "package.all_distinct")
    cases = [
        MeasurableCase(f"suite.{name}.time_it({name!r})", f"suite.{name}.time_it-0", 30.0)
        for name in functions
    ]
    assert [case.name for case in rank(cases, {}, {}, changed)] == [
        case.name for case in reversed(cases)
    ]


NOTES_CALLS = """
import time
from pathlib import Path

def time_it():
    with Path(__file__).with_name("calls").open("a") as file:
        print("called", file=file)
    time.sleep(0.1)
"""


def test_a_profile_rests_while_others_are_measured_which_does_not_count_for_its_case(
    repository: Path, change: Change, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(choice, "_SECONDS_A_CASE", 3)
    side, changed = change({"package.py": NEARER, "benchmarks/noting.py": NOTES_CALLS})
    cases = [MeasurableCase(str(index), "noting.time_it", 30.0) for index in range(20)]
    notes = repository / "benchmarks/calls"
    with Profiler(side, cases, changed) as profiler:
        assert not profiler.shares
        while not profiler.count_of_answers:
            profiler.profile_for(0.05)
        time.sleep(0.5)  # until the signal has stopped it
        calls = notes.read_text()
        time.sleep(3.0)
        assert notes.read_text() == calls
        profiler.profile_for(60.0)
        assert profiler.is_done
    assert profiler.failures == {}
    assert len(notes.read_text().split()) == 2 * len(cases) > len(calls.split())


BENCHMARK = """
class Suite:
    def time_it(self):
        {body}
    def setup(self):
        self.ds = {setup}
"""
BY_NAME = {
    "indexing.Suite.time_it": BENCHMARK.format(body="self.ds.isel()", setup="Dataset()"),
    "rolling.Suite.time_it": BENCHMARK.format(body="self.ds.mean()", setup="Dataset().isel(x=1)"),
    "dataset_io.Suite.time_it": BENCHMARK.format(body="self.ds.write()", setup="make()"),
    "repr.Suite.time_it": BENCHMARK.format(body="repr(self.ds)", setup="make()"),
}


def test_a_name_in_the_timed_body_comes_before_one_in_setup_and_the_name_of_a_file() -> None:
    changed = Changed((), frozenset({"isel"}), frozenset({"isel", "dataset"}), True)
    cases = _named(*reversed(BY_NAME))
    assert [case.name for case in rank(cases, {}, BY_NAME, changed)] == list(BY_NAME)


def test_a_special_method_is_looked_for_by_the_name_of_its_class(
    make_repository: Callable[..., Path],
) -> None:
    text = "class Grid:\n    def __init__(self):\n        self.size = 1\n"
    repository = make_repository({"package.py": text})
    after = commit(repository, {"package.py": text.replace("1", "2")}, "Change")
    assert read_changes(repository, "HEAD~1", after, ["package.py"]).identifiers == {"Grid"}


LAZY = """
import time

def work():
    if work.first:
        time.sleep({first_s})  # as a large package imports parts of itself at the first call
    work.first = False
    changed()

work.first = True

def changed():
    end = time.perf_counter() + {seconds}
    while time.perf_counter() < end:
        pass
"""


@pytest.mark.parametrize(
    ("first_s", "seconds"),
    [(0.3, 0.1), (3.5, 0.1), (0.1, 2.6)],
    ids=["a short import", "a long import", "no time for a second call"],
)
def test_the_imports_of_a_first_call_do_not_hide_what_changed(
    change: Change, monkeypatch: pytest.MonkeyPatch, first_s: float, seconds: float
) -> None:
    monkeypatch.setattr(choice, "_SECONDS_A_CASE", 5)
    forged = """b'{"case": "suite.time_it", "share": NaN}\\n'"""
    suite = f"import os\nimport package\n\nos.write(3, {forged})\n"
    suite += "def time_it():\n    package.work()\n"
    lazy = LAZY.format(first_s=first_s, seconds=seconds)
    change({"package.py": lazy, "benchmarks/suite.py": suite})
    side, changed = change({"package.py": lazy.replace("end =", "end = 0 +")})
    profiler = _profiled(side, _named("suite.time_it"), changed)
    assert profiler.shares["suite.time_it"] > 0.5
    assert profiler.count_of_answers == 1
    assert not profiler.failures


HANGS = """
import time

try:
    time.sleep(600)  # as a download does
except Exception:
    pass

def time_one():
    pass

def time_two():
    pass
"""
RAISES = """
from pathlib import Path

with Path(__file__).with_name("imports").open("a") as file:
    print("imported", file=file)
raise RuntimeError("out of cheese")
"""
CALLS = """
import time
import package

def time_far():
    package.far(10)

def time_near():
    package.near(10000)  # long enough that other work hardly matters

def time_hangs():
    time.sleep(600)

def time_skipped():
    pass

def skip():
    raise NotImplementedError

time_skipped.setup = skip
"""
CALLED = {"package.py": NEARER, "benchmarks/calls.py": CALLS}


def test_suites_that_hang_fail_or_end_the_profiler_are_given_up_once_and_named(
    repository: Path,
    change: Change,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    ends = "import os\n\nos._exit(3)\n"
    suites = {"hangs": HANGS, "raises": RAISES, "calls": CALLS, "ends": ends}
    files = {f"benchmarks/{name}.py": text for name, text in suites.items()}
    side, changed = change(files | {"package.py": NEARER})
    cases = _named(
        "hangs.time_one",
        "hangs.time_two",
        "raises.time_one",
        "raises.time_two",
        "calls.time_hangs",
        "calls.time_skipped",
        "calls.time_near",
        "ends.time_one",
    )
    monkeypatch.setattr(choice, "_SECONDS_A_CASE", 3)
    order = _choice(cases, changed, profiling_s=30.0)  # a fifth of it for an import
    with order.profiling(side):
        order.profile_for(100.0)
    assert order.ranked()[0].name == "calls.time_near"
    printed = capsys.readouterr().out
    assert "looked at 7 of 8 cases" in printed
    for line in (
        "hangs.time_one and 1 more: importing its suite takes more than 6 s",
        "raises.time_one and 1 more: its suite cannot be imported: RuntimeError: out of cheese",
        "calls.time_hangs: it takes more than 3 s with a profile",
        "calls.time_skipped: NotImplementedError: its setup skips it here",
        "ends.time_one: the profiler ended: exit status 3",
    ):
        assert f"  not called: {line}" in printed
    imports = repository / "benchmarks/imports"
    assert imports.read_text().splitlines() == ["imported"]


def test_a_case_that_takes_too_much_memory_while_it_is_looked_at_fails_alone(
    change: Change, monkeypatch: pytest.MonkeyPatch
) -> None:
    greedy = "import time\n\ndef time_all():\n    kept = b'1' * (1 << 29)\n    time.sleep(60)\n"
    suites = {"greedy": greedy, "imports": f"{greedy}\ntime_all()\n"}
    files = {f"benchmarks/{name}.py": text for name, text in suites.items()}
    side, changed = change(CALLED | files)
    cases = _named("greedy.time_all", "calls.time_near", "imports.time_all")
    monkeypatch.setenv(MEMORY_LIMIT, "0.2")
    profiler = _profiled(side, cases, changed)
    assert profiler.shares["calls.time_near"] > 0.5
    reason = limit_in_words(0.2 * GIB)
    assert profiler.failures == {"greedy.time_all": reason, "imports.time_all": reason}


def test_looking_takes_no_longer_than_it_may(change: Change) -> None:
    side, changed = change(CALLED)
    hanging = [MeasurableCase(str(index), "calls.time_hangs", 30.0) for index in range(3)]
    order = _choice(hanging, changed, profiling_s=2.0)
    began = time.monotonic()
    with order.profiling(side):
        for _ in range(4):
            order.profile_for(1.5)
    assert time.monotonic() - began < 15.0


def test_a_case_that_hardly_runs_what_changed_does_not_delay_those_that_do(
    change: Change,
) -> None:
    side, changed = change({"package.py": PACKAGE.replace("range(50)", "range(51)")})
    cases = [_case("time_far", 0), _case("time_half", 1), _case("time_near", 1)]
    order = _choice(cases, changed)
    with order.profiling(side):
        order.profile_for(60.0)
        first = order.next_group((), 20)
    assert {case.name for case in first} == {
        "suite.Suite.time_half(10000)",
        "suite.Suite.time_near(10000)",
    }, "the third runs it in its setup alone"


def test_a_near_case_does_not_wait_until_the_suites_of_others_are_imported(
    change: Change, monkeypatch: pytest.MonkeyPatch
) -> None:
    hangs = {"benchmarks/hangs.py": HANGS, "benchmarks/other.py": HANGS}
    side, changed = change(CALLED | hangs)
    cases = _named("calls.time_near", "hangs.time_one", "other.time_one", "calls.time_far")
    monkeypatch.setattr(choice, "_PATIENCE_S", 1.0)
    with Profiler(side, cases, changed, import_seconds=600.0) as profiler:
        profiler.profile_for(60.0)
        assert profiler.shares.keys() == {"calls.time_near"}
        assert not profiler.is_done
        began = time.monotonic()
        profiler.profile_for(3.0, known=["calls.time_near"])
        assert time.monotonic() - began >= 3.0, "there is nothing to measure meanwhile"
