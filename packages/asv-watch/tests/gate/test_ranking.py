"""Which cases a diff touches: those that run most of what it changed come first."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from asv_watch.asv.settings import EnvironmentSpec
from asv_watch.engine.cases import MeasurableCase
from asv_watch.engine.workplace import Side
from asv_watch.errors import WatchError
from asv_watch.gate import choice
from asv_watch.gate.changes import Changed, measured_files, read_changes
from asv_watch.gate.choice import Choice, Profiler, rank
from asv_watch.machine.budget import Budget
from asv_watch.machine.children import GIB, MEMORY_LIMIT, limit_in_words
from tests.conftest import commit, git
from tests.making import make_configuration
from tests.torchless import project_files

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

class Grid:
    def __init__(self):
        self.size = 1
"""
NEARER = PACKAGE.replace("+ 1", "+ 2")
SUITE = """
import time
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

def time_hangs():
    time.sleep(600)

def skip():
    raise NotImplementedError

def time_skipped():
    pass

time_skipped.setup = skip

def time_raises():
    raise RuntimeError("out of cheese")

time_raises.timeout = 3
"""

Change = Callable[[dict[str, str]], tuple[Side, Changed]]


@pytest.fixture
def change(make_repository: Callable[..., Path], made_environment: Path) -> Change:
    """Commits files; returns the side after that, and what it changed of the package."""
    repository = make_repository(project_files(SUITE, {"package.py": PACKAGE}))

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


def test_documentation_tests_and_what_the_project_does_not_list_are_not_measured(
    make_repository: Callable[..., Path],
) -> None:
    root = make_repository({"a ä.py": "x = 1\n" * 9, "same": ""})
    git(root, "mv", "a ä.py", "b.py")
    paths = ("src/p/a.py", "src/pq.py", "src/b.c", "asv/suite.py", "docs/x.py", "README.md")
    after = commit(root, dict.fromkeys((*paths, "src/p/tests/test_a.py"), "x = 1\n"), "Change")

    def files(folder: Path, *listed: str) -> set[str]:
        configuration = make_configuration(folder, measured_paths=listed)
        return set(measured_files(configuration, "HEAD~1", after))

    code = {"src/p/a.py", "src/pq.py", "src/b.c", "asv/suite.py"}
    code |= {"a ä.py", "b.py"}  # both names of a renamed file
    assert files(root) == code
    listed = {"src/p/a.py", "src/p/tests/test_a.py", "src/b.c"}
    assert files(root, "src/p", "src/b.c") == listed
    assert files(root / "asv") == code
    assert files(root / "asv", "suite.py") == {"asv/suite.py"}
    with pytest.raises(WatchError, match="bad object"):  # a diff that fails is no empty one
        measured_files(make_configuration(root), "HEAD", "f" * 40)


def _changed(
    functions: tuple[tuple[str, int, int], ...], *identifiers: str, is_traceable: bool = True
) -> Changed:
    names = frozenset({"package", *identifiers})
    return Changed(functions, frozenset(identifiers), names, is_traceable)


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        ("range(50)", "range(51)", _changed((("package.py", 16, 20),), "inner")),
        ("    total = 0\n", "", _changed((("package.py", 16, 19),), "inner")),
        ("@decorate", "@decorate  # x", _changed((("package.py", 12, 14),), "near")),
        ("TABLE = 3", "TABLE = 4", _changed((("package.py", 1, 10**9),), is_traceable=False)),
        ("def far", "# Far away.\ndef far", _changed(())),
        ("size = 1", "size = 2", _changed((("package.py", 26, 27),), "Grid")),
    ],
    ids=["line", "removed line", "decorator", "constant", "comment", "special method"],
)
def test_a_diff_is_read_as_the_functions_that_it_changed(
    change: Change, old: str, new: str, changed: Changed
) -> None:
    assert change({"package.py": PACKAGE.replace(old, new)})[1] == changed


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
    cases = _named(*(f"suite.{name}.time_it" for name in functions))
    assert rank(cases, {}, {}, changed) == cases[::-1]


NOTES_CALLS = """
import time
from pathlib import Path

def time_it():
    with Path(__file__).with_name("calls").open("a") as file:
        print("called", file=file)
    time.sleep(0.1)
"""


def test_a_profile_rests_while_others_are_measured_which_does_not_count_for_its_case(
    change: Change, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(choice, "_SECONDS_A_CASE", 3)
    side, changed = change({"package.py": NEARER, "benchmarks/noting.py": NOTES_CALLS})
    cases = [MeasurableCase(str(index), "noting.time_it", 30.0) for index in range(20)]
    notes = side.suites / "calls"
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


HANGS = """
import time

try:
    time.sleep(600)  # as a download does
except Exception:
    pass
"""


def test_suites_that_hang_fail_or_end_the_profiler_are_given_up_once_and_named(
    change: Change, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # What a suite writes as if it were the profiler is no answer.
    forged = b'{"case": "ends.time_one", "share": NaN}\n'
    ends = f"import os\n\nos.write(3, {forged!r})\nos._exit(3)\n"
    raises = "raise RuntimeError('out of cheese')\n"
    suites = {"hangs": HANGS, "raises": raises, "ends": ends}
    files = {f"benchmarks/{name}.py": text for name, text in suites.items()}
    side, changed = change(files | {"package.py": NEARER})
    cases = _named(
        *(f"{suite}.time_{number}" for suite in ("hangs", "raises") for number in ("one", "two")),
        *("suite.time_hangs", "suite.time_skipped", "suite.Suite.time_near-1", "ends.time_one"),
    )
    monkeypatch.setattr(choice, "_SECONDS_A_CASE", 3)
    # An import may take a fifth of the 30 s.
    order = Choice(cases, Budget(100.0, time.monotonic), {}, changed, 30.0)
    with order.profiling(side):
        order.profile_for(100.0)
    assert order.ranked()[0].name == "suite.Suite.time_near-1"
    printed = capsys.readouterr().out
    assert "looked at 7 of 8 cases" in printed
    for line in (
        "hangs.time_one and 1 more: importing its suite takes more than 6 s",
        "raises.time_one and 1 more: its suite cannot be imported: RuntimeError: out of cheese",
        "suite.time_hangs: it takes more than 3 s with a profile",
        "suite.time_skipped: NotImplementedError: its setup skips it here",
        "ends.time_one: the profiler ended: exit status 3",
    ):
        assert f"  not called: {line}" in printed


def test_a_case_that_takes_too_much_memory_while_it_is_looked_at_fails_alone(
    change: Change, monkeypatch: pytest.MonkeyPatch
) -> None:
    greedy = "import time\n\ndef time_all():\n    kept = b'1' * (1 << 29)\n    time.sleep(60)\n"
    suites = {"greedy": greedy, "imports": f"{greedy}\ntime_all()\n"}
    files = {f"benchmarks/{name}.py": text for name, text in suites.items()}
    side, changed = change({"package.py": NEARER, **files})
    cases = _named("greedy.time_all", "suite.Suite.time_near-1", "imports.time_all")
    monkeypatch.setenv(MEMORY_LIMIT, "0.2")
    profiler = _profiled(side, cases, changed)
    assert profiler.shares["suite.Suite.time_near-1"] > 0.5
    reason = limit_in_words(0.2 * GIB)
    assert profiler.failures == {"greedy.time_all": reason, "imports.time_all": reason}


def test_looking_takes_no_longer_than_it_may(change: Change) -> None:
    side, changed = change({"package.py": NEARER})
    hanging = [MeasurableCase(str(index), "suite.time_hangs", 30.0) for index in range(3)]
    order = Choice(hanging, Budget(100.0, time.monotonic), {}, changed, 2.0)
    began = time.monotonic()
    with order.profiling(side):
        for _ in range(4):
            order.profile_for(1.5)
    assert time.monotonic() - began < 15.0
