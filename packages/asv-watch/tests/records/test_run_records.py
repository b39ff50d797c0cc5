"""Where runs were measured: told apart from state, compared run to run."""

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import astuple

from asv_watch.comparison import Comparison, Conditions, Sitting
from asv_watch.judge.segments import find_events, split
from asv_watch.records.loading import load_history
from asv_watch.records.records import FORKED, NOT_FORKED, Record
from asv_watch.records.store import SittingWriter
from asv_watch.versions.version import Version
from tests.judge.test_suspicions import events_of
from tests.making import commit_hash, make_commits, make_history, make_series
from tests.stored import store_benchmarks


def read(folder: Path, *described: dict[str, Any], ended: bool = True) -> tuple[Record, ...]:
    """Store runs of one commit one after the other, and read their records."""
    results = folder / "results"
    store_benchmarks(results)
    for number, conditions in enumerate(described):
        sitting = Sitting(
            kind="run",
            at=1_760_000_000 + number,
            machine="m",
            versions=(Version(commit_hash(0), {}, "3.11"),),
            conditions=Conditions(environment="e", **conditions),
        )
        writer = SittingWriter(results, sitting)
        writer.add(Comparison("s.time_x", 1_760_000_001 + number, rounds=((1.0,),)))
        if ended:
            writer.end({"load_1_5_15_min": [1, 1, 2]})
    history = load_history(results, make_commits(1))
    assert history.problems == ()
    return history.recorded.get(("m", "e"), {}).get(commit_hash(0), ())


RUN: dict[str, Any] = {
    "machine": {"kernel": "6.1"},
    "facts": {"torch build": "2.15.0"},
    "details": {"torch.__config__.show()": "PyTorch built with: ..."},
    "before": {"load_1_5_15_min": [0.5, 1, 2], "gpus": [{"celsius": 41.0}], "cpu_mhz": None},
}


@pytest.mark.parametrize("ended", [True, False])
def test_a_record_has_facts_and_state(tmp_path: Path, ended: bool) -> None:
    [record] = read(tmp_path, RUN, ended=ended)
    assert record == Record(
        1_760_000_000,
        {"kernel": "6.1"},
        {"torch build": "2.15.0", "processes": NOT_FORKED},
        {"load_1_5_15_min": "0.5, 1, 2", "gpus 0 celsius": "41.0"},
        {"load_1_5_15_min": "1, 1, 2"} if ended else {},
    )


def record(at: int, kernel: str = "6.1", build: str = "2.15.0", load: str = "0") -> Record:
    return Record(at, {"kernel": kernel}, {"torch build": build}, before={"load": load})


def judge(environments: list[dict[str, str]]) -> tuple[list[int], list[tuple[str, ...]]]:
    """The lengths of the segments, and the events, of commits whose runs recorded environments."""
    series = make_series([1.0] * len(environments))
    key = series.machine, series.environment
    records = {
        commit_hash(number): (Record(number, {}, environment),)
        for number, environment in enumerate(environments)
    }
    facts: dict[str, dict[str, str]] = {commit: {} for commit in records}
    history = make_history([series], recorded={key: records}, facts={key: facts})
    [segments] = split(history)
    events = [astuple(event)[3:] for event in find_events(history)]
    return [len(segment.values) for segment in segments], events


def test_nothing_is_compared_between_processes_and_the_first_forks(tmp_path: Path) -> None:
    forked = RUN | {"facts": {"torch build": "2.15.0", "processes": FORKED}}
    environments = [run.environment for run in read(tmp_path, RUN, RUN, forked)]
    assert judge(environments) == ([2, 1], [("processes", NOT_FORKED, FORKED)])


RECORDED = {"interpreter": "CPython 3.11.7", "variable A": "1", "package numpy": "2.4.6"}


def test_a_package_that_a_run_does_not_record_is_not_taken_for_removed() -> None:
    more = RECORDED | {"package torch": "2.15.0"}
    newer = RECORDED | {"package torch": "2.16.0"}
    assert judge([more, RECORDED, more]) == ([3], [])
    assert judge([more, RECORDED, newer]) == ([3], [("package torch", "2.15.0", "2.16.0")])


def test_a_variable_that_is_set_and_one_that_is_not_set_any_more_are_events() -> None:
    more = RECORDED | {"variable LD_PRELOAD": "jemalloc.so"}
    assert judge([RECORDED, more, more, RECORDED]) == (
        [1, 2, 1],
        [("variable LD_PRELOAD", "", "jemalloc.so"), ("variable LD_PRELOAD", "jemalloc.so", "")],
    )


def test_a_run_that_could_not_ask_its_environment_changes_nothing() -> None:
    assert judge([RECORDED, {}, RECORDED]) == ([3], [])


def test_the_environments_of_a_machine_are_one_sequence_of_its_runs() -> None:
    runs = {
        ("m", "a"): {0: [record(1)], 1: [record(3), record(4, kernel="6.2")]},
        ("m", "b"): {0: [record(2)], 1: [record(5, kernel="6.2")]},
        ("other", "a"): {0: [record(1, kernel="5")]},
    }
    assert events_of({}, runs) == [("m", "", commit_hash(1), "kernel", "6.1", "6.2")]


def test_what_asv_stores_too_is_one_event() -> None:
    facts = {("m", "e"): {0: {"cpu": "old"}, 1: {"cpu": "new"}}}
    runs = {("m", "e"): {0: [Record(1, {"cpu": "old"}, {})], 1: [Record(2, {"cpu": "new"}, {})]}}
    assert events_of(facts, runs) == [("m", "", commit_hash(1), "cpu", "old", "new")]
