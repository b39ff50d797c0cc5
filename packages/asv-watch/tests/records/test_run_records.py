"""Where runs were measured: read line by line, told apart from state, compared run to run."""

from __future__ import annotations

import json
from pathlib import Path

from msgspec.structs import astuple

from asv_watch.records.records import Record
from asv_watch.records.side_files import FORKED, NOT_FORKED, read_records
from asv_watch.runs.events import find_events
from asv_watch.runs.segments import split
from tests.making import commit_hash, make_history, make_series

LINE = {
    "at": 1_760_000_000,
    "until": 1_760_000_900,
    "machine": {"kernel": "6.1"},
    "environment": {"torch build": "2.15.0"},
    "details": {"torch.__config__.show()": "PyTorch built with: ..."},
    "before": {"load_1_5_15_min": [0.5, 1, 2], "gpus": [{"celsius": 41.0}], "cpu_mhz": None},
    "after": {"load_1_5_15_min": [1, 1, 2]},
}


def write(path: Path, *lines: object) -> Path:
    text = "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
    path.write_text(text)
    return path


def test_a_record_has_facts_and_state(tmp_path: Path) -> None:
    [record], problems = read_records(write(tmp_path / "a.environment.jsonl", LINE))
    assert problems == []
    assert record == Record(
        1_760_000_000,
        {"kernel": "6.1"},
        {"torch build": "2.15.0", "processes": NOT_FORKED},
        {"load_1_5_15_min": "0.5, 1, 2", "gpus 0 celsius": "41.0"},
        {"load_1_5_15_min": "1, 1, 2"},
    )


def test_the_line_of_a_run_that_ended_replaces_the_one_of_its_start(tmp_path: Path) -> None:
    begun = {name: value for name, value in LINE.items() if name not in {"until", "after"}}
    path = write(tmp_path / "a.environment.jsonl", begun)
    [while_it_runs], _ = read_records(path)
    assert while_it_runs.after == {}
    [ended], problems = read_records(write(path, begun, LINE))
    assert ended.after == {"load_1_5_15_min": "1, 1, 2"}
    assert problems == []


def record(at: int, kernel: str = "6.1", build: str = "2.15.0", load: str = "0") -> Record:
    return Record(at, {"kernel": kernel}, {"torch build": build}, before={"load": load})


MachineAndEnvironment = tuple[str, str]


def events_of(
    recorded: dict[MachineAndEnvironment, dict[int, list[Record]]],
    facts: dict[MachineAndEnvironment, dict[int, dict[str, str]]] | None = None,
) -> list[tuple[str, ...]]:
    """The events of records, by machine and environment and then by number of the commit."""
    history = make_history(
        [make_series([1.0] * 9)],
        recorded={
            key: {commit_hash(number): tuple(records) for number, records in commits.items()}
            for key, commits in recorded.items()
        },
        facts={
            key: {commit_hash(number): result for number, result in by_commit.items()}
            for key, by_commit in (facts or {}).items()
        },
    )
    return [astuple(event) for event in find_events(history)]


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
    forked = LINE | {"environment": {"torch build": "2.15.0", "processes": FORKED}}
    environments = []
    for line in (LINE, LINE, forked):
        [run], _ = read_records(write(tmp_path / "a.environment.jsonl", line))
        environments.append(run.environment)
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


def test_a_change_between_two_runs_of_one_commit_is_an_event_of_it() -> None:
    runs = {0: [record(1)], 1: [record(2), record(3, kernel="6.2")], 2: [record(4, kernel="6.2")]}
    assert events_of({("m", "e"): runs}) == [("m", "", commit_hash(1), "kernel", "6.1", "6.2")]


def test_the_environments_of_a_machine_are_one_sequence_of_its_runs() -> None:
    runs = {
        ("m", "a"): {0: [record(1)], 1: [record(3, kernel="6.2")]},
        ("m", "b"): {0: [record(2)], 1: [record(4, kernel="6.2")]},
        ("other", "a"): {0: [record(1, kernel="5")]},
    }
    assert events_of(runs) == [("m", "", commit_hash(1), "kernel", "6.1", "6.2")]


def test_what_asv_stores_too_is_one_event() -> None:
    facts = {("m", "e"): {0: {"cpu": "old"}, 1: {"cpu": "new"}}}
    runs = {("m", "e"): {0: [Record(1, {"cpu": "old"}, {})], 1: [Record(2, {"cpu": "new"}, {})]}}
    assert events_of(runs, facts) == [("m", "", commit_hash(1), "cpu", "old", "new")]
