"""Two stored results are compared by the rule of comparisons, without building anything."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from asv.results import get_filename

from asv_watch.cli.main import main
from asv_watch.records.comparisons import CaseRatio, Measurement
from asv_watch.records.measurements import MeasurementWriter
from asv_watch.versions.version import Version
from tests.asv_watch.torchless import CONFIGURATION
from tests.conftest import commit

BENCHMARKS = {
    "version": 2,
    "s.time_a": {
        "name": "s.time_a",
        "param_names": ["n"],
        "params": [["1", "2"]],
        "type": "time",
        "unit": "seconds",
        "version": "1",
        "code": "",
    },
    "s.track_words": {
        "name": "s.track_words",
        "param_names": [],
        "params": [],
        "type": "track",
        "unit": "words",
        "version": "1",
        "code": "",
    },
}


@pytest.fixture
def project(make_repository: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Two commits, measured on two machines; their hashes."""
    root = make_repository({"asv.conf.json": json.dumps(CONFIGURATION), "x": "1"})
    hashes = [commit(root, {"x": text}, text) for text in ("2", "3")]
    monkeypatch.chdir(root)
    results = Path("results")
    for machine, factor in (("fast", 1.0), ("slow", 3.0)):
        (results / machine).mkdir(parents=True)
        (results / machine / "machine.json").write_text(
            json.dumps({"machine": machine, "version": 1})
        )
        for number, hash_ in enumerate(hashes):
            times = [0.0001 * factor, 0.0002 * factor * (1 + 0.2 * number)]
            content = {
                "version": 2,
                "commit_hash": hash_,
                "date": 1000,
                "durations": {},
                "env_vars": {},
                "python": "3.11",
                "env_name": "existing-py3.11",
                "params": {"machine": machine},
                "requirements": {},
                "result_columns": [
                    "result",
                    "params",
                    "version",
                    "stats_ci_99_a",
                    "stats_ci_99_b",
                ],
                "results": {
                    "s.time_a": [
                        times,
                        [["1", "2"]],
                        "1",
                        [time * 0.98 for time in times],
                        [time * 1.02 for time in times],
                    ],
                    "s.track_words": [[5 + number], [], "1"],
                },
            }
            name = get_filename(machine, hash_, "existing-py3.11")
            (results / name).write_text(json.dumps(content))
    (results / "benchmarks.json").write_text(json.dumps(BENCHMARKS))
    return hashes


def _verdicts(capsys: pytest.CaptureFixture[str], *sides: str, cases: str = "") -> dict[str, str]:
    before, after = sides
    arguments = ["compare", "--stored", "--before", before, "--after", after, "--cases", cases]
    status = main(arguments)
    printed = capsys.readouterr()
    assert status == 0, printed.err
    rows = re.findall(r"^\| `(\S+)`.*\| (.*?)\s*\|$", printed.out, re.M)
    return dict(rows)


def test_values_that_were_measured_apart_raise_suspicions(
    project: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    verdicts = _verdicts(capsys, "fast:HEAD~1", "fast:HEAD")
    assert verdicts == {
        "s.time_a(1)": "same",
        "s.time_a(2)": "slower, suspected",
        "s.track_words": "worse, suspected",
    }
    verdicts = _verdicts(capsys, f"fast:{project[1]}@py3.11", "slow:HEAD", cases=r"\(1\)")
    assert verdicts == {"s.time_a(1)": "slower, suspected"}


def test_the_answer_is_written_as_json_and_fails_if_a_case_is_slower(
    project: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    stored = ["compare", "--stored", "fast:HEAD~1", "fast:HEAD"]
    assert main([*stored, "--fail-if-slower", "--json", "-"]) == 4
    printed = capsys.readouterr()
    assert "| case" in printed.err
    answer = json.loads(printed.out)
    sides = [f"fast:{hash_[:8]}@existing-py3.11" for hash_ in project]
    assert [answer["before"], answer["after"]] == sides
    differences = {each["case"]: each for each in answer["differences"]}
    assert {name: each["verdict"] for name, each in differences.items()} == {
        "s.time_a(1)": "same",
        "s.time_a(2)": "slower",
        "s.track_words": "worse",
    }
    slower = differences["s.time_a(2)"]
    assert (slower["worse"], slower["measured"], slower["machine"]) == (True, False, "fast")
    assert slower["ratio"] == pytest.approx(1.2)
    assert main([*stored, "--fail-if-slower", "--cases", r"\(1\)"]) == 0
    assert main([*stored[:3], "--fail-if-slower"]) == 2
    assert "--stored compares two sides" in capsys.readouterr().err


def test_a_single_sample_tells_nothing(
    project: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    for path in Path("results/fast").glob("*-*.json"):
        content = json.loads(path.read_text())
        low, high = content["results"]["s.time_a"][3:5]
        low[1], high[1] = float("-inf"), float("inf")  # of `asv run --quick`
        path.write_text(json.dumps(content))
    verdicts = _verdicts(capsys, "fast:HEAD~1", "fast:HEAD")
    assert verdicts["s.time_a(2)"] == "too noisy to tell"
    assert verdicts["s.time_a(1)"] == "same"


def test_an_interleaved_comparison_of_the_two_counts(
    project: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    versions = [Version(hash_, {}, "3.11") for hash_ in project]
    header = Measurement(kind="compare", at=1, machine="fast", versions=(versions[0], versions[1]))
    writer = MeasurementWriter(Path("results"), header)
    writer.add(CaseRatio("s.time_a(2)", 1, (1.0, 1.0), 1.0, (0.99, 1.01), 0.0003, 0.0003))
    assert main(["compare", "--stored", "--before", "fast:HEAD~1", "--after", "fast:HEAD"]) == 0
    [row] = re.findall(r"^\| `s.time_a\(2\)` .*\|$", capsys.readouterr().out, re.M)
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells[1:4] == ["300 µs", "300 µs", "±0.0 %"], "not the 200 and 240 µs of separate runs"
    assert cells[5:] == ["interleaved", "same"]


@pytest.mark.parametrize(
    ("before", "message"),
    [
        ("HEAD~9", "no result of 'HEAD~9' is stored"),
        ("fast:HEAD@py2.7", "no result of 'fast:HEAD@py2.7' is stored"),
        ("HEAD", "may mean several results: fast:"),
    ],
)
def test_a_side_that_is_not_stored_or_not_clear_is_named(
    project: list[str], capsys: pytest.CaptureFixture[str], before: str, message: str
) -> None:
    assert project
    assert main(["compare", "--stored", "--before", before, "--after", "HEAD"]) == 1
    error = capsys.readouterr().err
    assert message in error
    assert "Traceback" not in error
