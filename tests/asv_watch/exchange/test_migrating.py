"""Results of the first format are converted once, and say the same afterwards."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from asv_watch.errors import WatchError
from asv_watch.exchange.migrating import migrate
from asv_watch.records.comparisons import CaseValues, NoValue, read_comparisons
from asv_watch.records.explanations import FILE_NAME as EXPLANATIONS
from asv_watch.records.explanations import read_explanations
from asv_watch.records.releases import FILE_NAME as RELEASES
from asv_watch.records.releases import read_releases

COMMIT = "6b7719da982193ab914d12f65da0a515cc63d193"
VISION = {"2.13.0": "0.28.0", "2.14.1": "0.29.1", "2.15.0": "0.29.2"}


def _version(torch: str) -> dict[str, str]:
    return {"commit": COMMIT, "torch": torch, "torchvision": VISION[torch], "python": "3.11"}


def _write(path: Path, *lines: dict[str, Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return path


def _value(torch: str, case: str, **value: Any) -> dict[str, Any]:
    named = {"torch": torch, "torchvision": VISION[torch], "commit": COMMIT, "case": case}
    return {**named, "at": 7, "unit": "bytes", **value, "format": 1}


@pytest.fixture
def results(tmp_path: Path) -> Path:
    machine = tmp_path / "results" / "m"
    for number, pair in enumerate((("2.13.0", "2.14.1"), ("2.14.1", "2.15.0"))):
        header = {
            "kind": "release",
            "at": number,
            "machine": "m",
            **dict(zip(("before", "after"), map(_version, pair), strict=True)),
            "recipe": {"rounds": 5},
            "format": 1,
        }
        ratio = {"at": 1, "ratios": [1.0, 1.1], "ratio": 1.05, "interval": [1.0, 1.2]}
        ratio |= {"case": "imports.Imports.time_import('torch')", "before_s": 1.0, "after_s": 1.1}
        _write(machine / "comparisons" / f"{number}-release-a-b.jsonl", header, ratio)
    memory = [(torch, float(1000 + n)) for n, torch in enumerate(VISION)]
    _write(
        machine / "release_values.jsonl",
        *(_value(torch, "a.A.peakmem_x", value=value) for torch, value in memory),
        _value("2.14.1", "a.A.track_y", exact=True, failed="no compiler"),
        _value("2.15.0", "a.A.track_y", exact=True, value=3.0),
    )
    tried = {"torch": "2.15.0", "torchvision": "0.29.2", "at": 1, "import_s": [1.0], "format": 1}
    _write(machine / RELEASES, tried)
    explanation = {"seconds": [1.0, 2.0], "operators": [], "not_counted": "no valgrind"}
    versions = {"before": _version("2.14.1"), "after": _version("2.15.0")}
    _write(
        machine / EXPLANATIONS,
        {"case": "x", "at": 1, **versions, "explanation": explanation, "format": 1},
    )
    return tmp_path / "results"


def test_everything_is_converted_once(results: Path) -> None:
    assert all("results migrate" in problem.message for problem in read_comparisons(results)[1])
    assert len(read_comparisons(results)[1]) == 2
    assert len(set(migrate(results))) == 5
    older, newer = read_comparisons(results)[0]
    assert newer.header.before.requirements == {"torch": "2.14.1", "torchvision": "0.29.1"}
    assert (newer.header.requirement, newer.ratios[0].case) == ("torch", "import torch")
    assert older.values == (
        CaseValues("a.A.peakmem_x", 7, "bytes", before=1000.0, after=1001.0),
        CaseValues("a.A.track_y", 7, "bytes", exact=True, after=NoValue(failed="no compiler")),
    )
    assert newer.values[1].before == NoValue(failed="no compiler")
    assert newer.values[1].after == 3.0
    assert read_releases(results, "m")[0]["torch 2.15.0"].import_s == (1.0,)
    [stored], problems = read_explanations(results / "m" / EXPLANATIONS)
    assert (stored.after.release, problems) == ("torch 2.15.0", ())
    assert not (results / "m" / "release_values.jsonl").exists()
    assert list(migrate(results)) == []


def test_lines_that_an_older_program_added_since_are_converted_too(results: Path) -> None:
    set(migrate(results))
    values = _write(
        results / "m" / "release_values.jsonl",
        *(_value(torch, "a.A.peakmem_x", value=1000.0 + n) for n, torch in enumerate(VISION)),
        *(_value(torch, "a.A.peakmem_z", value=5.0) for torch in VISION),
    )
    assert values in set(migrate(results))
    assert [case.case for case in read_comparisons(results)[0][1].values] == [
        *("a.A.peakmem_x", "a.A.track_y", "a.A.peakmem_z")
    ]
    [path] = (results / "m" / "comparisons").glob("1-*")
    assert path.read_text().count("peakmem_x") == 1


def test_values_without_a_comparison_are_named_and_stay(results: Path) -> None:
    other = {"commit": "f" * 40}
    path = _write(results / "m" / "release_values.jsonl", _value("2.15.0", "a", value=1.0) | other)
    with pytest.raises(WatchError, match="at ffffffff, where no comparison"):
        set(migrate(results))
    assert path.exists()
