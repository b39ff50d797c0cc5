"""Lists of benchmarks of several machines: their union, and that nothing is lost or rewritten."""

import itertools
import json
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from asv_watch.records.asv_files import (
    merge_lists,
    parse_list,
    read_benchmarks,
    read_machine_list,
    store_list,
)


def _entry(version: str = "1", *values: str, **others: Any) -> dict[str, Any]:
    return {"version": version, "param_names": ["n"], "params": [list(values)], **others}


ENTRIES = st.dictionaries(
    st.sampled_from(["a", "b", "c"]),
    st.builds(
        lambda version, values, at: _entry(version, *values, suites_at=at),
        st.sampled_from(["1", "2"]),
        st.lists(st.sampled_from("xyz"), unique=True),
        st.integers(0, 3),
    ),
)


@given(st.lists(ENTRIES, min_size=2, max_size=3))
def test_the_union_has_the_newest_code_whatever_the_order(lists: list[dict[str, Any]]) -> None:
    union = merge_lists(lists)
    assert all(merge_lists(order) == union for order in itertools.permutations(lists))
    assert union.keys() == {name for entries in lists for name in entries}
    for name, entry in union.items():
        versions = [entries[name] for entries in lists if name in entries]
        assert entry["suites_at"] == max(version["suites_at"] for version in versions)
        same = [version for version in versions if version["version"] == entry["version"]]
        newest = [version for version in same if version["suites_at"] == entry["suites_at"]]
        assert any(set(version["params"][0]) <= set(entry["params"][0]) for version in newest)


def test_a_run_that_finds_the_same_suites_writes_nothing(tmp_path: Path) -> None:
    suites = {"a": _entry("1", "x", setup_cache_key="suite:10"), "b": _entry("1", "x")}
    store_list(tmp_path, "one", suites, suites_at=5)
    files = [tmp_path / "benchmarks.json", tmp_path / "one/benchmarks.json"]
    before = [path.stat().st_mtime_ns for path in files]
    moved = suites | {"a": suites["a"] | {"setup_cache_key": "suite:12"}}
    store_list(tmp_path, "one", moved, suites_at=6)
    assert [path.stat().st_mtime_ns for path in files] == before
    store_list(tmp_path, "other", suites, suites_at=7)
    assert files[0].stat().st_mtime_ns == before[0]


def test_a_benchmark_leaves_the_union_with_the_last_machine_that_has_it(tmp_path: Path) -> None:
    for machine in ("one", "other"):
        store_list(tmp_path, machine, {"a": _entry(), "b": _entry()}, suites_at=1)
    union = tmp_path / "benchmarks.json"
    store_list(tmp_path, "one", {"b": _entry()}, suites_at=2)
    assert parse_list(union.read_bytes()).keys() == {"a", "b"}
    (tmp_path / "other/benchmarks.json").write_text("{ cut off")
    store_list(tmp_path, "one", {"c": _entry()}, suites_at=3)
    assert parse_list(union.read_bytes()).keys() == {"a", "b", "c"}, "the damaged list had a and b"
    store_list(tmp_path, "other", {"b": _entry()}, suites_at=3)
    assert parse_list(union.read_bytes()).keys() == {"b", "c"}
    assert json.loads(union.read_text())["version"] == 2
    union.unlink()
    assert read_benchmarks(tmp_path)[0].keys() == {"b", "c"}, "each machine keeps its own"


def test_a_damaged_entry_of_a_machine_is_left_out(tmp_path: Path) -> None:
    sound = _entry(name="a.time_a", type="time", unit="seconds", rounds=2, short={"n": [1]})
    damaged = {
        f"no {missing}": {key: value for key, value in sound.items() if key != missing}
        for missing in ("type", "unit", "name")
    }
    damaged |= {
        "params": sound | {"params": [["1"], ["2"]]},
        "rounds": sound | {"rounds": {}},
        "short": sound | {"short": [1]},
        "timeout": sound | {"timeout": "long"},
    }
    named = {name: {**entry, "name": name} for name, entry in damaged.items() if "name" in entry}
    store_list(tmp_path, "desk", {"a.time_a": sound, **damaged, **named}, suites_at=1)
    assert list(read_machine_list(tmp_path, "desk")) == ["a.time_a"]
