"""The cases that run what a diff changed come first, one of each benchmark before further ones."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from asv_watch.asv.settings import EnvironmentSpec
from asv_watch.engine.cases import MeasurableCase
from asv_watch.engine.sides import Side
from asv_watch.gate import choice
from asv_watch.gate.changes import Changed, read_changes
from asv_watch.gate.choice import Choice, Profiler, rank
from asv_watch.machine.budget import Budget
from asv_watch.machine.memory import GIB, MEMORY_LIMIT, limit_in_words
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


def _change(repository: Path, environment: Path, files: dict[str, str]) -> tuple[Side, Changed]:
    """Commit files; return the side after that, and what it changed of the package."""
    after = commit(repository, files, "Change")
    changed = read_changes(repository, "HEAD~1", after, ["package.py"])
    spec, suites = EnvironmentSpec({}, "", environment), repository / "benchmarks"
    return Side("head", repository, spec, suites), changed


def _case(name: str, index: int | None = None) -> MeasurableCase:
    if index is None:
        return MeasurableCase(f"suite.{name}", f"suite.{name}", 30.0)
    size = (10, 10000)[index]
    return MeasurableCase(f"suite.Suite.{name}({size})", f"suite.Suite.{name}-{index}", 30.0)


def _changed(
    functions: tuple[tuple[str, int, int], ...], *identifiers: str, is_traceable: bool = True
) -> Changed:
    names = frozenset({"package", *identifiers})
    return Changed(functions, frozenset(identifiers), names, is_traceable)


@pytest.fixture
def repository(make_repository: Callable[..., Path]) -> Path:
    return make_repository(
        {"package.py": PACKAGE, "benchmarks/__init__.py": "", "benchmarks/suite.py": SUITE}
    )


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


def test_cases_come_in_the_order_of_the_time_in_changed_functions(
    repository: Path, made_environment: Path
) -> None:
    after = commit(repository, {"package.py": NEARER}, "Change")
    changed = read_changes(repository, "HEAD~1", after, ["package.py"])
    assert changed.names == {"package", "near"}
    suites = repository / "benchmarks"
    side = Side("head", repository, EnvironmentSpec({}, "", made_environment), suites)
    names = ("time_far", "time_half", "time_near")
    cases = [_case(name, index) for name in names for index in (0, 1)]
    cases.append(_case("time_raises"))
    with Profiler(side, cases, changed) as profiler:
        profiler.profile_for(60.0)
        shares = profiler.shares
    assert profiler.is_done
    failures = profiler.failures
    assert "suite.time_raises" not in shares
    assert failures == {"suite.time_raises": "RuntimeError: out of cheese"}
    assert shares["suite.Suite.time_far-1"] == 0
    assert shares["suite.Suite.time_near-1"] > 0.9
    ranked = [case.name for case in rank(cases, shares, {}, changed)]
    assert ranked[0] == "suite.Suite.time_near(10000)"
    assert "suite.Suite.time_half" in ranked[1]
    assert ranked[2] == "suite.time_raises", "nothing is known of it"
    assert not [name for name in ranked if "time_far" in name]


def test_code_that_no_profile_sees_is_looked_for_by_its_name(
    make_repository: Callable[..., Path],
) -> None:
    code = "int other(int a) {\n  return a;\n}\n\nint median(int a) {\n  return a;\n}\n"
    repository = make_repository({"reduce.c": code})
    after = commit(repository, {"reduce.c": code[::-1].replace(";a", ";1+a", 1)[::-1]}, "Change")
    changed = read_changes(repository, "HEAD~1", after, ["reduce.c"])
    assert not changed.is_traceable
    assert "median" in changed.names
    cases = [_case("time_other", 0), _case("time_median", 0), _case("time_median", 1)]
    texts = {
        "suite.Suite.time_other": "def time_other(): bn.other(a)",
        "suite.Suite.time_median": "def time_median(): bn.median(a)",
    }
    ranked = [case.name for case in rank(cases, {}, texts, changed)]
    assert ranked == [cases[1].name, cases[0].name, cases[2].name]


def test_a_function_of_python_is_found_by_its_names_in_c(
    make_repository: Callable[..., Path],
) -> None:
    code = "PyObject *\nPyP_AllDistinct(PyObject *m) {\n  return m;\n}\n"
    path = "src/package/alldistinct.c"
    repository = make_repository({path: code})
    after = commit(repository, {path: code.replace("return m", "return 0")}, "Change")
    changed = read_changes(repository, "HEAD~1", after, [path])
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


def test_a_profile_rests_while_others_are_measured_and_goes_on(
    repository: Path, made_environment: Path
) -> None:
    files = {"package.py": NEARER, "benchmarks/noting.py": NOTES_CALLS}
    side, changed = _change(repository, made_environment, files)
    cases = [MeasurableCase(str(index), "noting.time_it", 30.0) for index in range(20)]
    notes = repository / "benchmarks/calls"
    with Profiler(side, cases, changed) as profiler:
        assert not profiler.shares
        while not profiler.count_of_answers:
            profiler.profile_for(0.05)
        time.sleep(0.5)  # until the signal has stopped it
        calls = notes.read_text()
        time.sleep(1.0)
        assert notes.read_text() == calls
        profiler.profile_for(60.0)
        assert profiler.is_done
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
    cases = [MeasurableCase(name, name, 30.0) for name in reversed(BY_NAME)]
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
    make_repository: Callable[..., Path],
    made_environment: Path,
    monkeypatch: pytest.MonkeyPatch,
    first_s: float,
    seconds: float,
) -> None:
    monkeypatch.setattr(choice, "_SECONDS_A_CASE", 5)
    forged = """b'{"case": "suite.time_it", "share": NaN}\\n'"""
    suite = f"import os\nimport package\n\nos.write(3, {forged})\n"
    suite += "def time_it():\n    package.work()\n"
    lazy = LAZY.format(first_s=first_s, seconds=seconds)
    repository = make_repository(
        {"package.py": lazy, "benchmarks/__init__.py": "", "benchmarks/suite.py": suite}
    )
    later = lazy.replace("end =", "end = 0 +")
    side, changed = _change(repository, made_environment, {"package.py": later})
    with Profiler(side, [_case("time_it")], changed) as profiler:
        profiler.profile_for(60.0)
        assert profiler.is_done
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
    package.near(10)

def time_hangs():
    time.sleep(600)

def time_sleeps():
    time.sleep(1)

def time_skipped():
    pass

def skip():
    raise NotImplementedError

time_skipped.setup = skip
"""
CALLED = {"package.py": NEARER, "benchmarks/calls.py": CALLS}


def test_a_suite_that_hangs_or_fails_when_it_is_imported_is_given_up_once_and_named(
    repository: Path,
    made_environment: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    suites = {"hangs": HANGS, "raises": RAISES, "calls": CALLS}
    files = {f"benchmarks/{name}.py": text for name, text in suites.items()}
    side, changed = _change(repository, made_environment, files | {"package.py": NEARER})
    names = (
        "hangs.time_one",
        "hangs.time_two",
        "raises.time_one",
        "raises.time_two",
        "calls.time_hangs",
        "calls.time_skipped",
        "calls.time_near",
    )
    cases = [MeasurableCase(name, name, 30.0) for name in names]
    monkeypatch.setattr(choice, "_SECONDS_A_CASE", 3)
    budget = Budget(100.0, time.monotonic)
    order = Choice(cases, budget, {}, changed, profiling_s=30.0)  # a fifth of it for an import
    with order.profiling(side):
        order.profile_for(100.0)
    assert order.ranked()[0].name == "calls.time_near"
    printed = capsys.readouterr().out
    assert "looked at 7 of 7 cases" in printed
    for line in (
        "hangs.time_one and 1 more: importing its suite takes more than 6 s",
        "raises.time_one and 1 more: its suite cannot be imported: RuntimeError: out of cheese",
        "calls.time_hangs: it takes more than 3 s with a profile",
        "calls.time_skipped: NotImplementedError: its setup skips it here",
    ):
        assert f"  not called: {line}" in printed
    imports = repository / "benchmarks/imports"
    assert imports.read_text().splitlines() == ["imported"]


def test_a_suite_that_ends_the_profiler_is_named(
    repository: Path, made_environment: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ends = {"benchmarks/ends.py": "import os\n\nos._exit(3)\n"}
    side, changed = _change(repository, made_environment, CALLED | ends)
    names = ("calls.time_near", "ends.time_near", "calls.time_far")
    cases = [MeasurableCase(name, name, 30.0) for name in names]
    order = Choice(cases, Budget(100.0, time.monotonic), {}, changed, profiling_s=60.0)
    with order.profiling(side):
        order.profile_for(60.0)
    printed = capsys.readouterr().out
    assert "looked at 1 of 3 cases" in printed
    assert "  not called: ends.time_near: the profiler ended: exit status 3" in printed


def test_a_case_that_takes_too_much_memory_while_it_is_looked_at_fails_alone(
    repository: Path, made_environment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    greedy = "import time\n\ndef time_all():\n    kept = b'1' * (1 << 29)\n    time.sleep(60)\n"
    files = {
        "benchmarks/greedy.py": greedy,
        "benchmarks/imports.py": f"{greedy}\ntime_all()\n",
    }
    side, changed = _change(repository, made_environment, CALLED | files)
    names = ("greedy.time_all", "calls.time_near", "imports.time_all")
    cases = [MeasurableCase(name, name, 30.0) for name in names]
    monkeypatch.setenv(MEMORY_LIMIT, "0.2")
    with Profiler(side, cases, changed) as profiler:
        profiler.profile_for(60.0)
        assert profiler.is_done
    assert profiler.shares["calls.time_near"] > 0.5
    reason = limit_in_words(0.2 * GIB)
    assert profiler.failures == {"greedy.time_all": reason, "imports.time_all": reason}


def test_looking_takes_no_longer_than_it_may(repository: Path, made_environment: Path) -> None:
    side, changed = _change(repository, made_environment, CALLED)
    hanging = [MeasurableCase(str(index), "calls.time_hangs", 30.0) for index in range(3)]
    order = Choice(hanging, Budget(100.0, time.monotonic), {}, changed, profiling_s=2.0)
    began = time.monotonic()
    with order.profiling(side):
        for _ in range(4):
            order.profile_for(1.5)
    assert time.monotonic() - began < 15.0


def test_the_time_in_which_others_are_measured_does_not_count_for_a_case_that_is_called(
    repository: Path, made_environment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    side, changed = _change(repository, made_environment, CALLED)
    cases = [MeasurableCase(name, f"calls.{name}", 30.0) for name in ("time_far", "time_sleeps")]
    monkeypatch.setattr(choice, "_SECONDS_A_CASE", 3)
    with Profiler(side, cases, changed) as profiler:
        while not profiler.count_of_answers:
            profiler.profile_for(0.1)
        profiler.profile_for(0.5)  # `time_sleeps` is being called
        time.sleep(3.5)
        profiler.profile_for(60.0)
    assert profiler.failures == {}
    assert profiler.shares == {"calls.time_far": 0.0, "calls.time_sleeps": 0.0}


def test_a_case_that_hardly_runs_what_changed_does_not_delay_those_that_do(
    repository: Path, made_environment: Path
) -> None:
    longer = PACKAGE.replace("range(50)", "range(51)")
    side, changed = _change(repository, made_environment, {"package.py": longer})
    cases = [_case("time_far", 0), _case("time_half", 1), _case("time_near", 1)]
    order = Choice(cases, Budget(100.0, time.monotonic), {}, changed, profiling_s=60.0)
    with order.profiling(side):
        order.profile_for(60.0)
        first = order.next_group((), 20)
    assert {case.name for case in first} == {
        "suite.Suite.time_half(10000)",
        "suite.Suite.time_near(10000)",
    }, "the third runs it in its setup alone"


def test_a_near_case_does_not_wait_until_the_suites_of_others_are_imported(
    repository: Path, made_environment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hangs = {"benchmarks/hangs.py": HANGS, "benchmarks/other.py": HANGS}
    side, changed = _change(repository, made_environment, CALLED | hangs)
    names = ("calls.time_near", "hangs.time_one", "other.time_one", "calls.time_far")
    cases = [MeasurableCase(name, name, 30.0) for name in names]
    monkeypatch.setattr(choice, "_PATIENCE_S", 1.0)
    with Profiler(side, cases, changed, import_seconds=600.0) as profiler:
        profiler.profile_for(60.0)
        assert profiler.shares.keys() == {"calls.time_near"}
        assert not profiler.is_done
        began = time.monotonic()
        profiler.profile_for(3.0, known=["calls.time_near"])
        assert time.monotonic() - began >= 3.0, "there is nothing to measure meanwhile"
