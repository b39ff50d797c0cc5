"""The cases that run what a diff changed come first, one of each benchmark before further ones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from asv_watch.asv.settings import EnvironmentSpec
from asv_watch.engine.cases import MeasurableCase
from asv_watch.engine.sides import Side
from asv_watch.gate.changes import Changed, read_changes
from asv_watch.gate.ranking import profile, rank
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
    raise RuntimeError

time_raises.timeout = 3
"""


def _case(name: str, place: int | None = None) -> MeasurableCase:
    if place is None:
        return MeasurableCase(f"suite.{name}", f"suite.{name}", 30.0)
    size = (10, 10000)[place]
    return MeasurableCase(f"suite.Suite.{name}({size})", f"suite.Suite.{name}-{place}", 30.0)


@pytest.fixture
def repository(make_repository: Callable[..., Path]) -> Path:
    return make_repository(
        {"package.py": PACKAGE, "benchmarks/__init__.py": "", "benchmarks/suite.py": SUITE}
    )


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        (
            "range(50)",
            "range(51)",
            Changed((("package.py", 19, 23),), frozenset({"package", "inner"}), True),
        ),
        (
            "    total = 0\n",
            "",
            Changed((("package.py", 19, 22),), frozenset({"package", "inner"}), True),
        ),
        (
            "@decorate",
            "@decorate  # x",
            Changed((("package.py", 14, 16),), frozenset({"package", "near"}), True),
        ),
        (
            "TABLE = 3",
            "TABLE = 4",
            Changed((("package.py", 1, 10**9),), frozenset({"package"}), False),
        ),
        ("def far", "# Far away.\ndef far", Changed((), frozenset({"package"}), True)),
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
    after = commit(repository, {"package.py": PACKAGE.replace("+ 1", "+ 2")}, "Change")
    changed = read_changes(repository, "HEAD~1", after, ["package.py"])
    assert changed.names == {"package", "near"}
    suites = repository / "benchmarks"
    side = Side("head", repository, EnvironmentSpec({}, "", made_environment), suites)
    names = ("time_far", "time_half", "time_near")
    cases = [_case(name, place) for name in names for place in (0, 1)]
    cases.append(_case("time_raises"))
    shares = profile(side, cases, changed, 60.0)
    assert shares["suite.time_raises"] is None
    assert shares["suite.Suite.time_far-1"] == 0
    nearest = shares["suite.Suite.time_near-1"]
    assert nearest is not None
    assert nearest > 0.9
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
