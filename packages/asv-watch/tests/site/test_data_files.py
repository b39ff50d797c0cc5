"""What the published files say: data, the page without JavaScript, the feed."""

import datetime
import json
import math
import re
from collections import Counter
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asv_watch.comparison import Outcome
from asv_watch.records.history import load_history
from asv_watch.records.records import Benchmark, Environment
from asv_watch.site import data_files, names
from asv_watch.site.contents import order_of_release
from asv_watch.site.data_files import description
from asv_watch.site.names import slug
from asv_watch.site.scripts import json_bytes
from asv_watch.versions.git import read_commits
from tests.making import LAYOUT
from tests.site.conftest import ATOM, Project, case_of, parsed_xml, tree


def test_the_files_of_the_benchmarks_hold_every_value(published: Project) -> None:
    commits = read_commits(published.root / "repository")
    history = load_history(published.results, commits, layout=published.layout)
    id_of = {name: names.environment_id(each) for name, each in history.environments.items()}
    wanted = {
        (entry.machine, id_of[entry.environment], entry.case.name, commit): run
        for entry in history.series
        for commit, run in history.runs(entry).items()
        if run.outcome is not Outcome.NEVER_RUN
    }
    seen, index = 0, published.index
    measured = {change["s"] for change in index["changes"] if change["state"] == "measured"}
    moved = {number for number, series in enumerate(index["series"]) if series["moved"]}
    assert set() < moved <= measured, "a level moves only where a change was measured"
    for benchmark in index["benchmarks"]:
        data = published.data(f"s/{benchmark['slug']}")
        assert data["benchmark"] == benchmark["name"]
        for row in data["series"]:
            series = index["series"][row["s"]]
            machine = index["machines"][series["m"]]["name"]
            key = machine, index["environments"][series["e"]]["id"], case_of(index, series)
            numbered = enumerate(row["v"], row["from"])
            values = {at: value for at, value in numbered if value is not None}
            if last := series["last"]:
                assert values[last["c"]] == last["v"]
            for at, value in values.items():
                run = wanted[*key, index["commits"][at][0]]
                assert math.isclose(value, run.value, rel_tol=5e-5)
            others = row.get("other", [])
            for at, outcome, reason in others:
                run = wanted[*key, index["commits"][at][0]]
                assert run.outcome.value == outcome
                assert run.reason == row["reasons"][reason]
            seen += len(values) + len(others)
            _check_stretches(row.get("stretches", []), values)
    assert seen == len(wanted)
    # What never ran anywhere is listed once.
    never = [series["c"] for series in index["series"] if series["status"] == "never run"]
    assert len(index["series"]) == sum(bool(each.runs) for each in history.series) + len(never)
    cases = Counter(series["c"] for series in index["series"])
    assert cases.keys() == set(range(len(index["cases"])))
    assert all(cases[case] == 1 for case in never)


def _check_stretches(cut: list[tuple[int, float, float]], values: dict[int, float]) -> None:
    """The runs of a stretch lie around its level, and the newest one is at 1."""
    ends = [*(first for first, *_ in cut[1:]), math.inf]
    for (first, level, scale), end in zip(cut, ends, strict=False):
        scaled = [value * scale for at, value in values.items() if first <= at < end]
        assert not scaled or min(scaled) * 0.999 <= level <= max(scaled) * 1.001
    assert not cut or cut[-1][1] == 1


def test_names_of_files_are_safe_and_told_apart() -> None:
    assert slug("time_series.TimeSeries.time_forward") == "time_series.TimeSeries.time_forward"
    odd = ["a/b", "a b", "a\\b", "..", "", "x" * 300, "x" * 301, "é"]
    assert len(set(map(slug, odd))) == len(odd)
    assert all(len(slug(name)) < 120 and "/" not in slug(name) for name in odd)


def test_environments_are_listed_by_release_and_labelled_by_what_differs() -> None:
    def labels(*recipes: tuple[str, str]) -> list[str]:
        environments = [
            Environment(f"{torch}-{threads}", "3.11", {"torch": torch}, {"THREADS": threads})
            for torch, threads in recipes
        ]
        return list(names.environment_labels(sorted(environments, key=order_of_release)).values())

    assert labels(("2.15.0", "1"), ("2.9.1", "1")) == ["torch 2.9.1", "torch 2.15.0"]
    differ = ["torch 2.15.0 · THREADS 1", "torch 2.15.0 · THREADS 2"]
    assert labels(("2.15.0", "1"), ("2.15.0", "2")) == differ
    assert names.environment_labels([Environment("bare", "")]) == {"bare": "bare"}


def test_a_long_history_is_told_over_several_files(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data_files, "VALUES", 3 * 12)
    project.build()
    index = project.index
    assert (len(index["commits"]), index["share"]) == (12, 3)
    first: dict[int, int] = {}
    for number, series in enumerate(index["series"]):
        benchmark = index["cases"][series["c"]]["b"]
        part = (number - first.setdefault(benchmark, number)) // 3
        suffix = f"~{part}" if part else ""
        rows = project.data(f"s/{index['benchmarks'][benchmark]['slug']}{suffix}")["series"]
        assert number in [row["s"] for row in rows]
        assert len(rows) <= 3


@pytest.mark.parametrize(
    ("message", "line"),
    [
        ("ValueError: one\n\nDuring handling of it:\nTypeError: two", "TypeError: two"),
        ("stopped after 600 s", "stopped after 600 s"),
        ("", ""),
        ("ValueError: " + "x" * 999, "ValueError: " + "x" * 187 + "…"),
        ("RuntimeError: RuntimeError: RuntimeError: two", "RuntimeError: two"),
    ],
)
def test_the_exception_is_found(message: str, line: str) -> None:
    assert names.exception_line(message) == line


def test_the_description_is_the_functions_docstring() -> None:
    code = 'class S:\n    """The suite."""\n    def time_x(self):\n        """One pass."""\n'
    assert description(Benchmark("a.S.time_x", "time", "s", code=code)) == "One pass."
    assert description(Benchmark("a.S.time_y", "time", "s", code=code)) == "The suite."
    assert description(Benchmark("a.S.time_x", "time", "s", code="class (")) == ""


def test_without_javascript_every_newest_value_is_in_the_one_table(published: Project) -> None:
    page = (published.html / "index.html").read_text()
    [table] = re.findall("<noscript>\\s*(<table.*?</table>)", page, re.DOTALL)
    measured = [one["last"]["text"] for one in published.index["series"] if one["last"]]
    assert len(table.split("<tr>")[2:]) == len(measured)
    text = " ".join(unescape(re.sub(r"<[^>]*>", " ", table)).split())
    assert all(value in text for value in measured)


def test_groups_stand_in_the_order_that_suites_declare() -> None:
    declared = {"work.W.track_x": 8, "time_series.T.time_x": 0, "a_new_one.A.time_x": 5}
    benchmarks = [Benchmark(name, "time", "seconds", position=at) for name, at in declared.items()]
    shown = [LAYOUT.group(benchmark) for benchmark in sorted(benchmarks, key=LAYOUT.group_order)]
    assert shown == ["time series", "a new one", "work"]


def test_every_entry_has_what_atom_requires(published: Project) -> None:
    feed = parsed_xml(published.html / "feed.xml")
    entries = feed.findall(f"{ATOM}entry")
    measured = [change for change in published.index["changes"] if change["state"] == "measured"]
    assert len(entries) == min(100, len(measured)) > 0
    for element in (feed, *entries):
        for required in ("id", "title", "updated"):
            [found] = element.findall(f"{ATOM}{required}")
            assert found.text
        datetime.datetime.fromisoformat(element.findtext(f"{ATOM}updated") or "")
    assert feed.find(f"{ATOM}author/{ATOM}name") is not None
    assert len({entry.findtext(f"{ATOM}id") for entry in entries}) == len(entries)


def test_feed_and_badge_hold_the_text_as_text_and_file_names_are_tame(hostile: Project) -> None:
    parsed_xml(hostile.html / "badge.svg")
    feed = parsed_xml(hostile.html / "feed.xml")
    assert not [element for element in feed.iter() if "}" not in element.tag]
    for name in tree(hostile.html):
        assert re.fullmatch(r"[A-Za-z0-9_.\-/]+", name), name


@given(st.recursive(st.text() | st.integers(-(2**53), 2**53) | st.none(), st.lists, max_leaves=5))
def test_any_text_survives_the_way_through_a_script(data: object) -> None:
    raw = json_bytes(data)
    assert not re.search(rb"[<>&]|\xe2\x80[\xa8\xa9]", raw)
    assert json.loads(raw) == data


def test_a_lone_surrogate_is_replaced() -> None:
    assert json.loads(json_bytes({"subject": ["bad \udcff byte"]})) == {"subject": ["bad ? byte"]}
