"""What a night takes first: order, what counts as missing, and what is set aside.

A fault of the machine, such as a full disk or no network, counts against no commit.
"""

import errno
import math
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from asv_watch.asv.declared import Declared
from asv_watch.asv.selection import SHORT, matching
from asv_watch.asv.settings import EnvironmentSpec
from asv_watch.comparison import DAY, Comparison
from asv_watch.engine.workplace import Workplace
from asv_watch.errors import MachineError
from asv_watch.machine.commands import check_machine, find_cause
from asv_watch.night.state import Attempts, NightState, since
from asv_watch.night.tasks import (
    Task,
    due_tasks,
    newest_commits,
    older_commits,
    one_day_changes,
    suspicions,
)
from asv_watch.records.history import load_history
from asv_watch.versions.git import read_commits
from asv_watch.versions.version import Version
from tests.conftest import commit, git
from tests.making import make_configuration
from tests.planted_comparisons import compared_commits, compared_releases, store
from tests.stored import TIME_A, store_benchmarks, store_run

NEW = EnvironmentSpec({"torch": "2"}, "virtualenv-py3.11-torch2" + "-variable" * 16, Path("2"))
"""Its name is so long that asv names result files by a hash of it, as it does in this project."""
OLD = EnvironmentSpec({"torch": "1"}, "virtualenv-py3.11-torch1", Path("1"))


class Project:
    """A branch and the stored results of two cases."""

    def __init__(self, folder: Path, count: int) -> None:
        self.folder = folder
        self.hashes = [git(folder, "rev-parse", "HEAD")]
        for number in range(1, count):
            self.hashes.append(commit(folder, {"x": str(number)}, f"Commit {number}"))
        store_benchmarks(folder / "results", TIME_A)
        self.now = 1.8e9

    def measure(self, index: int, environment: EnvironmentSpec, *values: float | None) -> None:
        """Store values of the two cases; NaN: never run."""
        cases = [
            Comparison(
                f"s.time_a({number})",
                at=6,
                rounds=() if value is None else ((value,),),
                failed={0: "why"} if value is None else {},
            )
            for number, value in enumerate(values, start=1)
            if value == value  # noqa: PLR0124 - not NaN
        ]
        store_run(
            self.folder / "results",
            *cases,
            commit=self.hashes[index],
            environment=environment.stored_as,
            requirements=dict(environment.requirements),
        )

    def attempts(self, suites: str = "suites") -> Attempts:
        return Attempts(self.folder / "results/m", suites, lambda: self.now)

    def state(
        self, *environments: EnvironmentSpec, cases: str = "", **settings: Any
    ) -> NightState:
        """What a night begins with; settings are those of `Configuration`."""
        commits = read_commits(self.folder)
        history = load_history(self.folder / "results", commits)
        configuration = make_configuration(self.folder, *environments, **settings)
        workplace = Workplace(self.folder, configuration, environments, "m")
        selection = matching(cases, otherwise=SHORT)
        return NightState(workplace, selection, self.attempts(), commits, history, self.now)

    def tasks(self, *environments: EnvironmentSpec, **settings: Any) -> list[Task]:
        """Every task of a night in which nothing is measured."""
        state = self.state(*environments, **settings)
        tasks = []
        while task := next(due_tasks(state), None):
            state.attempts.tonight.add(task.name)
            tasks.append(task)
        return tasks

    def night(self, *environments: EnvironmentSpec, cases: str = "") -> list[tuple[int, str]]:
        """Every task of a night that stores values: commit and release."""
        found = []
        for task in self.tasks(*environments, cases=cases):
            assert task.environment is not None
            if task.reason != "new commit":
                found.append((self.hashes.index(task.commit), task.environment.version))
        return found


MakeProject = Callable[[int], Project]


@pytest.fixture
def make_project(make_repository: Callable[..., Path]) -> MakeProject:
    return lambda count: Project(make_repository({"x": "0"}), count)


def test_cases_of_nights_alone_come_after_the_short_set(make_project: MakeProject) -> None:
    project = make_project(3)
    store_benchmarks(project.folder / "results", TIME_A | {"short": {"n": [1]}})

    def reasons(night_cases: str = "", cases: str = "") -> list[str]:
        found = project.tasks(NEW, cases=cases, declared=Declared(night_cases=night_cases))
        newest = project.hashes[-1]  # others follow where it fails
        return [task.reason for task in found if task.commit == newest]

    further = r"time_a\(2"
    for index in range(3):
        project.measure(index, NEW, 1, math.nan)
    # Nothing was measured in them before, so that there is nothing to compare with.
    assert reasons(further) == ["new commit", "newest commit, more cases"]
    project.measure(1, NEW, 1, 1)
    compared = ["new commit", "new commit, more cases"]
    assert reasons(further) == [*compared, "newest commit, more cases"]
    project.measure(2, NEW, 1, 1)
    assert reasons(further) == compared
    # None is declared, none can run, or others are asked for.
    assert reasons() == reasons("no such case") == ["new commit"]
    assert reasons(further, "time_a") == reasons("", "time_a")


@pytest.mark.parametrize(
    ("count", "measured", "expected"),
    [
        (9, {1: (1, 1), 8: (1, 1)}, [4, 6, 2]),
        (10, {0: (1, 1), 8: (1, 1)}, [9]),
        (7, {}, [6, 5, 4, 3, 1, 2, 0]),
        (4, {1: (1, None), 3: (1, math.nan)}, [3, 2, 0]),
    ],
    ids=["the largest gap", "the newest first", "the newest fail", "partly measured"],
)
def test_commits_are_measured_in_this_order(
    make_project: MakeProject,
    count: int,
    measured: dict[int, tuple[float | None, ...]],
    expected: list[int],
) -> None:
    project = make_project(count)
    for index, values in measured.items():
        project.measure(index, NEW, *values)
    assert project.night(NEW)[: len(expected)] == [(index, "2") for index in expected]


def test_a_commit_is_compared_with_the_newest_measured_code(make_project: MakeProject) -> None:
    project = make_project(6)
    project.measure(1, NEW, 1, 1)
    project.measure(3, NEW, 1, 1)

    def before(*changing: int) -> int:
        """The commit that the last of those that change what is measured is compared with."""
        state = project.state(NEW)
        commits = tuple(state.commits[index] for index in changing)
        found = replace(state, commits=commits).measured_before(commits[-1], NEW)
        assert found is not None
        return project.hashes.index(found)

    assert before(0, 1, 2, 5) == 2, "only the commit after it was measured, which is the same code"
    assert before(0, 1, 2, 3, 5) == 3
    assert before(0, 1, 2, 3) == 1


def test_every_fifth_commit_and_version_has_the_reference(make_project: MakeProject) -> None:
    project = make_project(13)

    def compared() -> list[int]:
        reference = Version(project.hashes[0], dict(NEW.requirements), "3")
        state = replace(project.state(NEW), reference=reference)
        found = [task for task in older_commits(state) if task.reason == "missing reference"]
        return [project.hashes.index(task.commit) for task in found]

    project.measure(6, NEW, 1, 1)
    project.measure(8, NEW, 1, 1)
    assert compared() == [8], "the newest, because none else joins this machine with others"
    for index in range(12):
        project.measure(index, NEW, 1, 1)
    git(project.folder, "tag", "v1.0", project.hashes[7])
    assert compared() == [10, 7, 5], "and not 0, which is the reference itself"


def test_what_fails_on_three_nights_is_set_aside(make_project: MakeProject) -> None:
    project = make_project(2)
    [newest, *_] = newest_commits(project.state(NEW))
    for _ in range(3):
        assert project.night(NEW)[0] == (1, "2")
        project.attempts().add_failure(newest.name, "it does not build")
        project.now += 600
        project.attempts().add_failure(newest.name, "again, in the same night")
        project.now += 9 * DAY - 600  # or the clock jumps
        project.attempts().add_failure(OLD.name, "no index offers it")
    assert project.night(NEW, OLD) == [(0, "2")], "a release is set aside with all commits"
    failures = project.attempts().failures[newest.name]
    assert (len(failures), failures[-1].failed) == (6, "again, in the same night")
    assert project.attempts("other suites").failures == {}


def test_after_two_commits_that_fail_alike_older_ones_are_left(make_project: MakeProject) -> None:
    project = make_project(9)
    project.measure(8, NEW, 1, 1)
    old, lacks = "it needs Python 2", "it needs a compiler"
    for failing, reason, oldest in ((3, old, 0), (1, lacks, 0), (2, lacks, 2)):
        project.attempts().add_failure(f"{project.hashes[failing]} {NEW.name}", reason)
        assert {index for index, _ in project.night(NEW)} == set(range(oldest, 8))


@pytest.mark.parametrize(
    ("oldest", "left"),
    [("", 4), ("3", 3), ("9", 4), ("v1", 2), ("1970-01-01", 4), ("2999-01-01", 0)],
)
def test_how_far_nights_go_back(make_project: MakeProject, oldest: str, left: int) -> None:
    project = make_project(4)
    git(project.folder, "tag", "v1", project.hashes[2])
    commits = read_commits(project.folder)
    assert since(oldest, commits, project.folder) == commits[4 - left :]


def test_the_newest_commit_and_suspicions_come_first(make_project: MakeProject) -> None:
    project = make_project(14)
    for index in range(1, 13):
        project.measure(index, NEW, 1 + index % 3 / 1000, 1 + index % 2 / 1000)
    found = {task.reason: task for task in reversed(project.tasks(NEW, OLD))}
    compared, newest = found["new commit"], found["newest commit"]
    assert compared.name == "compare {}..{} ".format(*project.hashes[12:]) + NEW.name
    assert newest.name == f"{project.hashes[13]} {NEW.name}"
    project.measure(13, NEW, 2, 1)  # the first case takes twice as long
    left = project.tasks(NEW, OLD)
    [suspicion] = [task for task in left if task.reason == "suspected change"]
    assert suspicion.name.startswith("suspected change {}..{} ".format(*project.hashes[12:]))
    assert not list(suspicions(project.state(NEW, cases=r"time_a\(2\)")))
    assert list(dict.fromkeys(task.reason for task in left)) == [
        "new commit",
        "suspected change",
        "new release",
        "older commit",
    ]


@pytest.mark.parametrize(
    ("ratio", "days_ago", "wanted"),
    [
        (1.03, (1,), "one-day change"),
        (1.03, (0,), ""),
        (1.03, (2, 1), "measured change"),
        (1.2, (0,), "measured change"),
    ],
    ids=["small", "the same day", "shown by two days", "large"],
)
def test_a_small_change_of_one_day_is_compared_on_another_before_it_is_examined(
    make_project: MakeProject, ratio: float, days_ago: tuple[int, ...], wanted: str
) -> None:
    project = make_project(4)
    for index in range(4):
        project.measure(index, NEW, 1, 1)
    commits = project.hashes[1], project.hashes[3]
    for days in days_ago:
        day: Any = {"at": int(project.now) - days * DAY, "machine": "m"}
        planted = compared_commits(commits, {"s.time_a(1)": ratio}, half=0.005, torch="2", **day)
        store(project.folder / "results", planted)
    state = project.state(NEW)
    found = [*one_day_changes(state), *suspicions(state)]
    assert [task.reason for task in found] == [wanted] * bool(wanted)
    assert all("..".join(commits) in task.name for task in found)


def test_one_day_changes_of_releases_are_compared_again(make_project: MakeProject) -> None:
    project = make_project(1)
    project.measure(0, NEW, 1, 1)
    ratios = {"s.time_a(1)": 1.03, "s.time_a(2)": 1.2, "import torch": 1.03}
    pinned = tuple(EnvironmentSpec({"torch": each}, "", Path(each)) for each in "321")

    def compare(before: str, after: str, days_ago: int) -> None:
        at = int(project.now) - days_ago * DAY
        planted = compared_releases(before, after, ratios, half=0.005, at=at, machine="m")
        store(project.folder / "results", planted)

    def found() -> list[Task]:
        return list(one_day_changes(project.state(NEW, releases={"torch": pinned})))

    compare("1", "2", 2)
    compare("2", "3", 2)
    [task] = found()
    assert (task.reason, task.description) == ("one-day change", "torch 3 against 2 against 1")
    compare("1", "2", 1)
    assert [task.description for task in found()] == ["torch 3 against 2"]
    compare("2", "3", 0)
    assert found() == []


def test_the_machine_is_blamed_for_its_errors() -> None:
    check_machine("MemoryError")
    check_machine("OSError: [Errno 2] No such file or directory: 'x'")
    for name in ("ENOSPC", "EDQUOT", "EROFS", "EMFILE", "ENFILE", "ENOMEM"):
        number = getattr(errno, name)
        with pytest.raises(MachineError) as error:
            check_machine(f"OSError: {OSError(number, os.strerror(number), 'x')}")
        assert isinstance(find_cause(str(error.value)), MachineError)


INDEX = "the package index answers slowly or wrongly, or cannot be reached"
OF_PIP = """\
   × Encountered error while generating package metadata.
   ╰─> from file:///project

   note: This is an issue with the package mentioned above, not pip.
   hint: See above for details.
"""
NO_VERSION = """\
ERROR: Could not find a version that satisfies the requirement torch===0.0.7 (from versions: none)
ERROR: No matching distribution found for torch===0.0.7
"""
CUT_OFF = "urllib3.exceptions.IncompleteRead: IncompleteRead(9 bytes read, 999 more expected)"


@pytest.mark.parametrize(
    ("printed", "reason"),
    [
        ("Temporary failure in name resolution", INDEX),
        (CUT_OFF, INDEX),
        (NO_VERSION, "torch===0.0.7 cannot be installed: the package index names no version"),
        ("ERROR: HTTPSConnectionPool(host='x', port=443): Read timed out.", INDEX),
        ("ERROR: 503 Server Error: Service Unavailable for url", INDEX),
        ("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES", INDEX),
        ("ERROR: No matching distribution found for torch==9.9", "torch==9.9 cannot be installed"),
        ("SyntaxError: invalid syntax", "SyntaxError: invalid syntax"),
        (OF_PIP, "Encountered error while generating package metadata."),
    ],
)
def test_the_index_is_told_from_the_commit(printed: str, reason: str) -> None:
    cause = find_cause(printed)
    assert isinstance(cause, MachineError) is ("the package index" in reason)
    assert str(cause).startswith(reason)
