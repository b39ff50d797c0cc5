"""What a night takes first: order, what counts as missing, and what is set aside."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asv_watch.asv.declared import Declared
from asv_watch.asv.selection import SHORT, matching
from asv_watch.asv.settings import Configuration, EnvironmentSpec
from asv_watch.bench import Tally
from asv_watch.compare.measure import Compared
from asv_watch.engine.runs import Outcomes
from asv_watch.engine.workplace import Workplace
from asv_watch.errors import WatchError
from asv_watch.machine.budget import parse_duration_s
from asv_watch.night import tasks
from asv_watch.night.attempts import Attempts
from asv_watch.night.queue import Situation, next_task, since
from asv_watch.night.tasks import (
    SOURCES,
    all_commits,
    bisection_order,
    closing_releases,
    closing_versions_of,
    measure_task,
    missing_references,
    newest_commit,
    night_cases,
    unmeasured_releases,
)
from asv_watch.records.loading import load_history
from asv_watch.releases.measure import ReleasePair
from asv_watch.versions.git import read_commits
from asv_watch.versions.version import Version
from tests.conftest import commit, git
from tests.planted_comparisons import compared_releases, failed_release, store
from tests.stored import TIME_A, result_content, store_benchmarks, store_result

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
        content = result_content(
            self.hashes[index],
            {"s.time_a": [list(values), TIME_A["params"], "1"]},
            env_name=environment.name,
            requirements=dict(environment.requirements),
        )
        store_result(self.folder / "results", content)

    def attempts(self, suites: str = "suites") -> Attempts:
        return Attempts(self.folder / "results/m", suites, lambda: self.now)

    def situation(
        self, *environments: EnvironmentSpec, cases: str = "", **settings: Any
    ) -> Situation:
        """What a night begins with; settings are those of `Configuration`."""
        results, other = self.folder / "results", self.folder / "other"
        commits = read_commits(self.folder)
        has_values = any((results / "m").glob("*-*.json"))
        history = load_history(results, commits) if has_values else None
        configuration = Configuration(
            "main", other, results, other, other, environments, other, **settings
        )
        workplace = Workplace(self.folder, configuration, environments, "m")
        selection = matching(cases, otherwise=SHORT)
        return Situation(workplace, selection, self.attempts(), commits, history)

    def night(self, *environments: EnvironmentSpec, cases: str = "") -> list[tuple[int, str]]:
        """Every task of a night in which nothing is measured: commit and release."""
        situation = self.situation(*environments, cases=cases)
        tried: set[str] = set()
        tasks = []
        while task := next_task(situation, SOURCES, tried, set()):
            assert task.environment is not None
            tried.add(task.name)
            if task.reason == "new commit":  # a comparison, in which no value is stored
                continue
            tasks.append((self.hashes.index(task.name.split()[0]), task.environment.version))
        return tasks


@pytest.fixture
def make_project(make_repository: Callable[..., Path]) -> Callable[[int], Project]:
    return lambda count: Project(make_repository({"x": "0"}), count)


NAN = float("nan")


def test_cases_of_nights_alone_come_after_the_short_set_and_of_the_newest_commit(
    make_project: Callable[[int], Project],
) -> None:
    project = make_project(3)
    store_benchmarks(project.folder / "results", SHORT_TIME_A)

    def reasons(night_cases: str = "", cases: str = "") -> list[str]:
        declared = Declared(night_cases=night_cases)
        situation = project.situation(NEW, cases=cases, declared=declared)
        tried: set[str] = set()
        found = []
        while task := next_task(situation, SOURCES, tried, set()):
            tried.add(task.name)
            if task.commit == project.hashes[-1]:  # others follow where it fails
                found.append(task.reason)
        return found

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
    situation = project.situation(NEW, declared=Declared(night_cases=r"time_a\(2"))
    situation.attempts.add_failure(f"{project.hashes[0]} {NEW.name}{failed}", "no memory left")
    retried = []

    def measure_nothing(*_: object, retry_failed: bool) -> Outcomes:
        retried.append(retry_failed)
        return {}

    monkeypatch.setattr(tasks, "measure_commit", measure_nothing)
    for task in (*newest_commit(situation), *night_cases(situation)):
        task.run(situation, Tally())
    assert retried == [not failed, bool(failed)]


def test_cases_of_nights_that_only_track_a_value_are_measured(
    make_project: Callable[[int], Project],
) -> None:
    project = make_project(2)
    tracked = TIME_A | {"name": "s.track_b", "type": "track", "short": {"n": []}}
    store_benchmarks(project.folder / "results", TIME_A, tracked)
    for index in range(2):
        project.measure(index, NEW, 1, 1)
    found = night_cases(project.situation(NEW, declared=Declared(night_cases="track_b")))
    assert {task.reason for task in found} == {"newest commit, more cases"}


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
        situation = project.situation(NEW)
        commits = tuple(situation.commits[index] for index in changing)
        found = replace(situation, commits=commits).measured_before(commits[-1].hash, NEW)
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
        situation = replace(project.situation(NEW), reference=reference)
        tasks = missing_references(situation)
        return [project.hashes.index(task.name.split()[0]) for task in tasks]

    project.measure(6, NEW, 1, 1)
    project.measure(8, NEW, 1, 1)
    assert compared() == [8], "the newest, because none else joins this machine with others"
    for index in range(12):
        project.measure(index, NEW, 1, 1)
    git(project.folder, "tag", "v1.0", project.hashes[7])
    assert compared() == [10, 7, 5, 0]


def test_commits_that_fail_hold_up_the_night_for_three_tasks_at_most(
    make_project: Callable[[int], Project],
) -> None:
    project = make_project(7)
    assert [index for index, _ in project.night(NEW)] == [6, 5, 4, 3, 1, 2, 0]


def test_a_partly_measured_commit_hides_no_other(make_project: Callable[[int], Project]) -> None:
    project = make_project(4)
    project.measure(1, NEW, 1, 1)
    project.measure(3, NEW, 1, NAN)
    assert sorted(project.night(NEW)) == [(0, "2"), (2, "2"), (3, "2")]
    assert sorted(project.night(NEW, cases=r"time_a\(1\)")) == [(0, "2"), (2, "2")]
    reasons = [task.reason for task in all_commits(project.situation(NEW))]
    assert reasons == ["older commit", "missing cases", "older commit", "missing cases"]


def test_a_failed_case_is_done(make_project: Callable[[int], Project]) -> None:
    project = make_project(2)
    project.measure(0, NEW, 1, None)
    assert project.night(NEW) == [(1, "2")]


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
    newest = measure_task(read_commits(project.folder)[-1], NEW, "newest commit")
    for _ in range(3):
        assert project.night(NEW)[0] == (1, "2")
        project.attempts().add_failure(newest.name, "it does not build")
        project.now += 600
        project.attempts().add_failure(newest.name, "again, in the same night")
        project.now += 86400 - 600
    assert project.night(NEW) == [(0, "2")]
    failures = project.attempts().failures[newest.name]
    assert (failures.nights, failures.reason) == (3, "again, in the same night")
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
        task = measure_task(read_commits(project.folder)[index], NEW, "older commit")
        project.attempts().add_failure(task.name, reason)

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


@pytest.mark.parametrize(
    ("text", "duration_s"), [("90min", 5400), ("1h 30m", 5400), ("0.5h", 1800)]
)
def test_durations(text: str, duration_s: float) -> None:
    assert parse_duration_s(text) == duration_s


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        *(
            (text, "is not a duration")
            for text in ("", "4", "-1h", "１h", "4h\n", "1h" + " " * 50_000 + "x")
        ),
        ("0s", "leaves no time to measure"),
        ("9" * 400 + "h", "is longer than a year"),
    ],
)
def test_what_is_no_budget_is_refused(text: str, reason: str) -> None:
    with pytest.raises(WatchError, match=f"{reason}; give a duration such as 4h"):
        parse_duration_s(text)


def test_the_newest_commit_is_compared_and_measured_and_suspicions_come_before_the_rest(
    make_project: Callable[[int], Project],
) -> None:
    project = make_project(14)
    for index in range(1, 13):
        project.measure(index, NEW, 1 + index % 3 / 1000, 1 + index % 2 / 1000)
    tried: set[str] = set()
    situation = project.situation(NEW, OLD)
    compared = next_task(situation, SOURCES, tried, set())
    assert compared is not None
    assert compared.name == "compare {}..{} ".format(*project.hashes[12:]) + NEW.name
    newest = measure_task(situation.commits[-1], NEW, "newest commit")
    assert situation.needs(newest)
    project.measure(13, NEW, 2, 1)  # the first case takes twice as long
    situation = project.situation(NEW, OLD)
    assert situation.needs(newest) is False
    reasons = []
    while task := next_task(situation, SOURCES, tried, set()):
        tried.add(task.name)
        reasons.append(task.reason)
        if task.reason == "suspected change":
            assert task.name.startswith("confirm {}..{} ".format(*project.hashes[12:]))
    assert [suspects.cases for suspects in situation.suspects] == [{"s.time_a(1)"}]
    assert list(dict.fromkeys(reasons)) == [
        "new commit",
        "suspected change",
        "new release",
        "older commit",
    ]
    assert project.situation(NEW, cases=r"time_a\(2\)").suspects == []


def test_a_listed_release_that_cannot_be_installed_is_set_aside_after_three_nights(
    make_project: Callable[[int], Project],
) -> None:
    project = make_project(1)
    project.measure(0, NEW, 1, 1)
    results = project.folder / "results"
    store(results, compared_releases("1", "2", {"s.time_a(1)": 1.1}, machine="m"))
    specs = tuple(EnvironmentSpec({"torch": text}, "", Path(), {}) for text in ("3", "2", "1"))
    for night in range(4):
        situation = project.situation(NEW, releases={"torch": specs})
        [task] = unmeasured_releases(situation)
        assert task.description == "torch 3 against 2"
        assert situation.needs(task) == (night < 3)
        store(results, failed_release("2", "3", "no wheel", machine="m"))
        project.attempts().add_failure(task.name, "no wheel")
        project.now += 86_400


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

    def situation() -> Situation:
        return project.situation(NEW, releases={"torch": specs})

    def fail_with_3(
        _: Workplace, ladder: Sequence[ReleasePair], *__: object
    ) -> Iterator[tuple[ReleasePair, Compared | WatchError]]:
        for pair in ladder:
            before, after = pair.before.version, pair.after.version
            if "3" in {before, after}:
                yield pair, WatchError("torch 3: no wheel")
            else:
                store(results, compared_releases(before, after, {"s.time_a(1)": 1}, machine="m"))

    monkeypatch.setattr(tasks, "measure_releases", fail_with_3)
    monkeypatch.setattr(tasks, "side", lambda *_: None)
    monkeypatch.setattr(tasks, "list_cases", lambda *_: [])
    [together] = unmeasured_releases(situation())
    assert together.description == "torch 5 against 4 against 3 against 2"
    with pytest.raises(WatchError, match=r"^torch 3: no wheel$"):
        together.run(situation(), Tally())
    alone = list(unmeasured_releases(situation()))
    assert [task.description for task in alone] == ["torch 4 against 3", "torch 3 against 2"]
    assert {task.name for task in alone} < {*together.at_once}, "not again in the same night"
    for _ in range(2):
        assert all(map(situation().needs, alone))
        project.now += 86_400
        for task in alone:
            project.attempts().add_failure(task.name, "no wheel")
    assert not any(map(situation().needs, alone)), "set aside after three nights"


def test_what_is_left_of_a_night_gives_releases_and_versions_a_second_way(
    make_project: Callable[[int], Project],
) -> None:
    """Each older one with the newest, until that is stored; neighbours were compared before."""
    project = make_project(4)
    for index in range(4):
        project.measure(index, NEW, 1, 1)
    results = project.folder / "results"
    specs = tuple(EnvironmentSpec({"torch": text}, "", Path(), {}) for text in ("3", "2", "1"))
    cases = {"s.time_a(1)": 1.0, "s.time_a(2)": 1.0}

    def wanted() -> list[str]:
        situation = project.situation(NEW, releases={"torch": specs})
        tasks = *closing_releases(situation), *closing_versions_of(situation)
        assert all(situation.needs(task) for task in tasks)
        return [task.description.rpartition(", ")[0] or task.description for task in tasks]

    def compare(before: int, after: int) -> None:
        commits = project.hashes[before], project.hashes[after]
        planted = compared_releases("2", "2", cases, kind="compare", commits=commits, machine="m")
        store(results, planted)

    assert wanted() == []
    for before, after in (("1", "2"), ("2", "3")):
        store(results, compared_releases(before, after, cases, machine="m"))
    assert wanted() == ["torch 3 against 1"]
    store(results, compared_releases("1", "3", cases, machine="m"))
    for number, index in enumerate((0, 1, 3)):
        git(project.folder, "tag", f"v0.{number}", project.hashes[index])
    compare(0, 1)
    compare(1, 3)
    assert wanted() == [f"{project.hashes[3][:8]} Commit 3 against {project.hashes[0][:8]}"]
    compare(0, 3)
    assert wanted() == []
