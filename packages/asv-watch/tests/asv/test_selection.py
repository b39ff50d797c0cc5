"""Which cases are selected, and which of them share a process."""

from typing import Any

import pytest

from asv_watch.asv.declared import Declared
from asv_watch.asv.selection import (
    EVERYTHING,
    SHORT,
    Selection,
    case_pattern,
    cases_of,
    in_short_set,
    pattern_of,
)
from asv_watch.engine.cases import choose_cases
from asv_watch.errors import WatchError
from asv_watch.records.records import case_name

BENCHMARKS: list[dict[str, Any]] = [
    {
        "name": name,
        "type": kind,
        "param_names": ["model", "batch"],
        "params": [["'darnn'", "'lenet5'"], ["5", "10"]],
        **declared,
    }
    for name, kind, declared in (
        ("a.A.time_x", "time", {"short": True}),
        ("a.A.peakmem_x", "peakmemory", {"short": {"model": ["lenet5"], "batch": [5]}}),
        ("b.B.track_time_y", "track", {"short": False}),
        ("b.B.time_y", "time", {"short": {"batch": [10]}}),
    )
] + [{"name": "c.time_z", "type": "time", "param_names": [], "params": []}]


def _selected(selection: Selection) -> set[str]:
    return {
        case_name(benchmark["name"], params)
        for benchmark in BENCHMARKS
        for params in cases_of(benchmark)
        if selection.includes(benchmark, params)
    }


def test_the_short_set_is_what_suites_declare() -> None:
    assert _selected(SHORT) == {
        *(f"a.A.time_x('{model}', {batch})" for model in ("darnn", "lenet5") for batch in (5, 10)),
        "a.A.peakmem_x('lenet5', 5)",
        "b.B.time_y('darnn', 10)",
        "b.B.time_y('lenet5', 10)",
        "c.time_z",
    }
    assert len(_selected(EVERYTHING)) == 17


def test_releases_are_compared_with_part_of_the_short_set_and_with_the_cases_of_nights() -> None:
    declared = Declared(release_cases=r"^(a|c)\.", night_cases="track.*darnn")
    selection = declared.cases_of_releases
    assert _selected(selection) == {
        *(case for case in _selected(SHORT) if not case.startswith("b.")),
        "b.B.track_time_y('darnn', 5)",
        "b.B.track_time_y('darnn', 10)",
    }
    assert str(selection) == r"the short set, ^(a|c)\. and track.*darnn"
    assert all(map(selection.matches, _selected(selection)))
    assert not selection.matches("b.B.time_y('darnn', 10)")


def test_a_short_set_with_an_unknown_parameter_is_an_error() -> None:
    with pytest.raises(WatchError, match="device"):
        in_short_set(BENCHMARKS[0] | {"short": {"device": ["cpu"]}}, ("'darnn'", "5"))


def test_values_share_a_process_by_suite_and_parameters_and_come_in_the_declared_order() -> None:
    def benchmark(name: str, kind: str = "track", **declared: Any) -> dict[str, Any]:
        params = {"param_names": ["n"], "params": [["1", "2"]]}
        return {"name": name, "type": kind, "unit": "n", "exact": True, **params, **declared}

    benchmarks = [
        *(benchmark("m.A.track_x"), benchmark("m.A.track_y"), benchmark("m.B.track_x")),
        benchmark("m.C.peakmem_x", "peakmemory", position=4),
        *(benchmark(f"m.C.track_{name}", may_fork=True, position=6) for name in "xy"),
    ]
    processes: dict[str, list[str]] = {}
    for case in choose_cases(benchmarks, EVERYTHING, Declared(), "memory", "count"):
        processes.setdefault(case.process, []).append(case.name.removeprefix("m."))
    assert list(processes.values()) == [
        ["C.peakmem_x(1)"],
        ["C.peakmem_x(2)"],
        ["A.track_x(1)", "A.track_y(1)"],
        ["A.track_x(2)", "A.track_y(2)"],
        ["B.track_x(1)"],
        ["B.track_x(2)"],
        ["C.track_x(1)", "C.track_x(2)", "C.track_y(1)", "C.track_y(2)"],
    ]


@pytest.mark.parametrize("text", ["a{99999999999}", "(" * 6000, "(?:" * 3000 + ")" * 3000, "["])
def test_what_is_no_pattern_is_refused(text: str) -> None:
    with pytest.raises(WatchError, match=r"--cases .* is not a regular expression"):
        case_pattern(text, "--cases")


def test_the_pattern_of_a_case_finds_it() -> None:
    case = "suite.Suite.time_it('a+b', [1])"
    assert case_pattern(f"^{pattern_of(case)}$").search(case)
