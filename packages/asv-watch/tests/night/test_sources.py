"""What a night takes first: order, what counts as missing, and what is set aside."""

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asv_watch.asv.declared import Declared
from asv_watch.asv.selection import SHORT, matching
from asv_watch.asv.settings import Configuration, EnvironmentSpec
from asv_watch.comparison import DAY, Comparison
from asv_watch.engine.measuring import Compared
from asv_watch.engine.runs import Outcomes, Tally
from asv_watch.engine.workplace import Workplace
from asv_watch.errors import WatchError
from asv_watch.night import tasks
from asv_watch.night.state import Attempts, NightState, since
from asv_watch.night.tasks import (
    Task,
    bisection_order,
    due_tasks,
    new_releases,
    newest_commits,
    older_commits,
    one_day_changes,
    suspicions,
)
from asv_watch.records.loading import load_history
from asv_watch.releases import measure as measure_module
from asv_watch.releases.measure import ReleasePair
from asv_watch.versions.git import read_commits
from asv_watch.versions.version import Version
from tests.conftest import commit, git
from tests.planted_comparisons import compared_releases, store
from tests.stored import TIME_A, store_benchmarks, store_run

NEW = EnvironmentSpec({"torch": "2"}, "virtualenv-py3.11-torch2" + "-variable" * 16, Path("2"))
"""Its name is so long that asv names result files by a hash of it, as it does in this project."""
OLD = EnvironmentSpec({"torch": "1"}, "virtualenv-py3.11-torch1", Path("1"))
SHORT_TIME_A = TIME_A | {"short": {"n": [1]}}


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

    def compare(
        self, before: int, after: int, ratio: float, at: float = 0, case: str = "s.time_a(1)"
    ) -> None:
        """Store a comparison of two commits, to 0.5 %."""
        commits = self.hashes[before], self.hashes[after]
        planted = compared_releases(
            "2",
            "2",
            {case: ratio},
            half=0.005,
            kind="compare",
            commits=commits,
            at=int(at),
            machine="m",
        )
        store(self.folder / "results", planted)

    def state(
        self, *environments: EnvironmentSpec, cases: str = "", **settings: Any
    ) -> NightState:
        """What a night begins with; settings are those of `Configuration`."""
        results, other = self.folder / "results", self.folder / "other"
        commits = read_commits(self.folder)
        history = load_history(results, commits)
        configuration = Configuration(
            "main", other, results, other, other, environments, other, **settings
        )
        workplace = Workplace(self.folder, configuration, environments, "m")
        selection = matching(cases, otherwise=SHORT)
        return NightState(workplace, selection, self.attempts(), commits, history, self.now)

    def tasks(self, *environments: EnvironmentSpec, **settings: Any) -> list[Task]:
        """Every task of a night in which nothing is measured."""
        state = self.state(*environments, **settings)
        tried: set[str] = set()
        tasks = []
        while task := next(due_tasks(state, tried, set()), None):
            tried.add(task.name)
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


@pytest.fixture
def make_project(make_repository: Callable[..., Path]) -> Callable[[int], Project]:
    return lambda count: Project(make_repository({"x": "0"}), count)


NAN = float("nan")


def names(found: Iterable[Task]) -> set[str]:
    return {task.name for task in found}


def test_cases_of_nights_alone_come_after_the_short_set_and_of_the_newest_commit(
    make_project: Callable[[int], Project],
) -> None:
    project = make_project(3)
    store_benchmarks(project.folder / "results", SHORT_TIME_A)

    def reasons(night_cases: str = "", cases: str = "") -> list[str]:
        found = project.tasks(NEW, cases=cases, declared=Declared(night_cases=night_cases))
        newest = project.hashes[-1]  # others follow where it fails
        return [task.reason for task in found if task.commit == newest]

    further = r"time_a\(2"
    for index in range(3):
        project.measure(index, NEW, 1, NAN)
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


@pytest.mark.parametrize("failed", ["", " night cases"])
def test_failed_cases_are_measured_again_where_the_task_with_these_cases_failed(
    make_project: Callable[[int], Project], monkeypatch: pytest.MonkeyPatch, failed: str
) -> None:
    project = make_project(1)
    store_benchmarks(project.folder / "results", SHORT_TIME_A)
    state = project.state(NEW, declared=Declared(night_cases=r"time_a\(2"))
    state.attempts.add_failure(f"{project.hashes[0]} {NEW.name}{failed}", "no memory left")
    retried = []

    def measure_nothing(*_: object, retry_failed: bool) -> Outcomes:
        retried.append(retry_failed)
        return {}

    monkeypatch.setattr(tasks, "measure_commit", measure_nothing)
    for task in newest_commits(state):
        task.run(Tally())
    assert retried == [not failed, bool(failed)]


def test_the_newest_commit_comes_first_then_the_largest_gap(
    make_project: Callable[[int], Project],
) -> None:
    project = make_project(9)
    project.measure(0, NEW, 1, 1)
    project.measure(8, NEW, 1, 1)
    assert [index for index, _ in project.night(NEW)][:3] == [4, 6, 2]
    project.hashes.append(commit(project.folder, {"x": "9"}, "Newest"))
    assert project.night(NEW)[0] == (9, "2")


def test_a_commit_is_compared_with_the_newest_whose_code_was_measured(
    make_project: Callable[[int], Project],
) -> None:
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
    assert before(0, 1, 2, 4, 5) == 2
    assert before(0, 1, 2, 3) == 1


def test_every_fifth_commit_and_every_version_is_compared_with_the_reference(
    make_project: Callable[[int], Project],
) -> None:
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


def test_commits_that_fail_hold_up_the_night_for_three_tasks_at_most(
    make_project: Callable[[int], Project],
) -> None:
    project = make_project(7)
    assert [index for index, _ in project.night(NEW)] == [6, 5, 4, 3, 1, 2, 0]


def test_a_partly_measured_commit_hides_no_other(make_project: Callable[[int], Project]) -> None:
    project = make_project(4)
    project.measure(1, NEW, 1, None)  # a case that failed is done
    project.measure(3, NEW, 1, NAN)
    assert sorted(project.night(NEW)) == [(0, "2"), (2, "2"), (3, "2")]
    assert sorted(project.night(NEW, cases=r"time_a\(1\)")) == [(0, "2"), (2, "2")]


def test_a_new_release_comes_before_older_commits(make_project: Callable[[int], Project]) -> None:
    project = make_project(3)
    project.measure(2, NEW, 1, 1)
    assert project.night(NEW, OLD)[0] == (2, "1")
    project.measure(2, OLD, 1, NAN)
    assert project.night(NEW, OLD) == [(0, "2"), (1, "2"), (1, "1"), (2, "1"), (0, "1")]


def test_what_fails_on_three_nights_is_set_aside_until_the_suites_change(
    make_project: Callable[[int], Project],
) -> None:
    project = make_project(2)
    [newest, *_] = newest_commits(project.state(NEW))
    for _ in range(3):
        assert project.night(NEW)[0] == (1, "2")
        project.attempts().add_failure(newest.name, "it does not build")
        project.now += 600
        project.attempts().add_failure(newest.name, "again, in the same night")
        project.now += 86400 - 600
    assert project.night(NEW) == [(0, "2")]
    failures = project.attempts().failures[newest.name]
    assert (len(failures), failures[-1].failed) == (6, "again, in the same night")
    assert project.attempts("other suites").failures == {}


def test_a_release_that_fails_on_three_nights_is_set_aside_with_all_commits(
    make_project: Callable[[int], Project],
) -> None:
    project = make_project(2)
    for _ in range(3):
        project.attempts().add_failure(OLD.name, "no index offers it")
        project.now += 86400
    assert {torch for _, torch in project.night(NEW, OLD)} == {"2"}


def test_after_two_commits_that_fail_alike_no_older_one_is_tried(
    make_project: Callable[[int], Project],
) -> None:
    project = make_project(9)
    project.measure(8, NEW, 1, 1)

    def fail(index: int, reason: str) -> None:
        project.attempts().add_failure(f"{project.hashes[index]} {NEW.name}", reason)

    fail(3, "it needs Python 2")
    assert {index for index, _ in project.night(NEW)} == set(range(8))
    fail(1, "it needs a compiler")
    assert {index for index, _ in project.night(NEW)} == set(range(8))
    fail(2, "it needs a compiler")
    assert {index for index, _ in project.night(NEW)} == set(range(2, 8))
    project.measure(0, NEW, 1, 1)
    assert {index for index, _ in project.night(NEW)} == set(range(1, 8))


@pytest.mark.parametrize(
    ("oldest", "left"),
    [("", 4), ("3", 3), ("9", 4), ("v1", 2), ("1970-01-01", 4), ("2999-01-01", 0)],
)
def test_nights_go_back_to_a_commit_a_date_or_so_many_commits(
    make_project: Callable[[int], Project], oldest: str, left: int
) -> None:
    project = make_project(4)
    git(project.folder, "tag", "v1", project.hashes[2])
    commits = read_commits(project.folder)
    assert since(oldest, commits, project.folder) == commits[4 - left :]


@given(st.integers(0, 60).flatmap(lambda n: st.tuples(st.just(n), st.sets(st.integers(0, 60)))))
def test_bisection_visits_every_unknown_commit_once_and_largest_gaps_first(
    line: tuple[int, set[int]],
) -> None:
    length, positions = line
    known = {index for index in positions if index < length}
    bounds = {-1, *known, length}
    visited = []
    for index in bisection_order(length, known):
        gaps = [after - before for before, after in itertools.pairwise(sorted(bounds))]
        below = max(bound for bound in bounds if bound < index)
        above = min(bound for bound in bounds if bound > index)
        assert above - below == max(gaps)
        bounds.add(index)
        visited.append(index)
    assert sorted(visited) == sorted(set(range(length)) - known)


def test_the_newest_commit_is_compared_and_measured_and_suspicions_come_before_the_rest(
    make_project: Callable[[int], Project],
) -> None:
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
    make_project: Callable[[int], Project], ratio: float, days_ago: tuple[int, ...], wanted: str
) -> None:
    project = make_project(4)
    for index in range(4):
        project.measure(index, NEW, 1, 1)
    for days in days_ago:
        project.compare(1, 3, ratio, project.now - days * DAY)
    state = project.state(NEW)
    found = [*one_day_changes(state), *suspicions(state)]
    assert [task.reason for task in found] == [wanted] * bool(wanted)
    assert all(f"{project.hashes[1]}..{project.hashes[3]}" in task.name for task in found)


def test_a_change_that_days_contradict_is_not_compared_for_ever(
    make_project: Callable[[int], Project],
) -> None:
    project = make_project(2)
    for index in range(2):
        project.measure(index, NEW, 1, 1)
    compared = 0
    for ratio in (1.04, 1.015, 1.04, 1.015, 1.04):
        project.now += DAY
        state = project.state(NEW)
        if compared == 0 or [*one_day_changes(state), *suspicions(state)]:
            project.compare(0, 1, ratio, project.now)
            compared += 1
    assert compared <= 3


def test_one_day_changes_of_releases_are_compared_again_in_their_cases_alone(
    make_project: Callable[[int], Project], monkeypatch: pytest.MonkeyPatch
) -> None:
    project = make_project(1)
    project.measure(0, NEW, 1, 1)
    results = project.folder / "results"
    specs = tuple(EnvironmentSpec({"torch": text}, "", Path(text), {}) for text in ("3", "2", "1"))
    ratios = {"s.time_a(1)": 1.03, "s.time_a(2)": 1.2, "import torch": 1.03}

    def compare(before: str, after: str, days_ago: int) -> None:
        at = int(project.now) - days_ago * DAY
        planted = compared_releases(before, after, ratios, half=0.005, at=at, machine="m")
        store(results, planted)

    def found() -> list[Task]:
        return list(one_day_changes(project.state(NEW, releases={"torch": specs})))

    compare("1", "2", 2)
    compare("2", "3", 2)
    [task] = found()
    assert (task.reason, task.description) == ("one-day change", "torch 3 against 2 against 1")
    measured = []

    def measure(*arguments: Any, again: bool) -> Iterator[Any]:
        measured.append(([case.name for case in arguments[3]], again))
        yield from ()

    listed = [SimpleNamespace(name=name) for name in ratios]
    monkeypatch.setattr(measure_module, "measure_releases", measure)
    monkeypatch.setattr(tasks, "side", lambda *_: None)
    monkeypatch.setattr("asv_watch.engine.cases.list_cases", lambda *_: listed)
    task.run(Tally())
    assert measured == [(["s.time_a(1)"], True)]
    compare("1", "2", 1)
    assert [task.description for task in found()] == ["torch 3 against 2"]
    compare("2", "3", 0)
    assert found() == []


def test_a_pair_of_releases_that_failed_among_others_is_tried_alone_on_later_nights(
    make_project: Callable[[int], Project], monkeypatch: pytest.MonkeyPatch
) -> None:
    project = make_project(1)
    project.measure(0, NEW, 1, 1)
    results = project.folder / "results"
    store(results, compared_releases("1", "2", {"s.time_a(1)": 1.1}, machine="m"))
    specs = tuple(
        EnvironmentSpec({"torch": text}, "", project.folder / "releases" / text, {})
        for text in ("5", "4", "3", "2", "1")
    )

    def state() -> NightState:
        return project.state(NEW, releases={"torch": specs})

    def fail_with_3(
        _: Workplace, chain: Sequence[ReleasePair], *__: object, again: bool
    ) -> Iterator[tuple[ReleasePair, Compared | WatchError]]:
        for pair in chain:
            before, after = pair.before.version, pair.after.version
            if "3" in {before, after}:
                yield pair, WatchError("torch 3: no wheel")
            else:
                store(results, compared_releases(before, after, {"s.time_a(1)": 1}, machine="m"))

    monkeypatch.setattr(measure_module, "measure_releases", fail_with_3)
    monkeypatch.setattr(tasks, "side", lambda *_: None)
    monkeypatch.setattr("asv_watch.engine.cases.list_cases", lambda *_: [])
    [together] = new_releases(state())
    assert together.description == "torch 5 against 4 against 3 against 2"
    with pytest.raises(WatchError, match=r"^torch 3: no wheel$"):
        together.run(Tally())
    alone = list(new_releases(state()))
    assert [task.description for task in alone] == ["torch 4 against 3", "torch 3 against 2"]
    assert names(alone) < {*together.at_once}, "not again in the same night"
    for _ in range(2):
        assert names(alone) <= names(due_tasks(state(), (), ()))
        project.now += DAY
        for task in alone:
            project.attempts().add_failure(task.name, "no wheel")
    assert not names(alone) & names(due_tasks(state(), (), ())), "set aside after three nights"
