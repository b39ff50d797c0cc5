"""Two stored results are compared by the rule of comparisons, without building anything."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from asv_watch.cli.main import main
from asv_watch.records.comparisons import CaseRatio, Measurement
from asv_watch.records.measurements import MeasurementWriter
from asv_watch.versions.version import Version
from tests.asv_watch.stored import (
    TIME_A,
    TRACK_WORDS,
    result_content,
    store_benchmarks,
    store_result,
    timed,
)
from tests.asv_watch.tables import rows_of, verdicts_of
from tests.asv_watch.torchless import project_files
from tests.conftest import commit


@pytest.fixture
def project(make_repository: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Two commits, measured on two machines; their hashes."""
    root = make_repository(project_files(""))
    hashes = [commit(root, {"x": text}, text) for text in ("2", "3")]
    monkeypatch.chdir(root)
    results = Path("results")
    for machine, factor in (("fast", 1.0), ("slow", 3.0)):
        store_benchmarks(results, TIME_A, TRACK_WORDS, machine=machine)
        for number, hash_ in enumerate(hashes):
            rows = {
                "s.time_a": timed(0.0001 * factor, 0.0002 * factor * (1 + 0.2 * number)),
                "s.track_words": [[5 + number], [], "1"],
            }
            store_result(results, result_content(hash_, rows, machine))
    return hashes


def _verdicts(capsys: pytest.CaptureFixture[str], *sides: str, cases: str = "") -> dict[str, str]:
    before, after = sides
    arguments = ["compare", "--stored", "--before", before, "--after", after, "--cases", cases]
    status = main(arguments)
    printed = capsys.readouterr()
    assert status == 0, printed.err
    return verdicts_of(printed.out)


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


def test_an_interleaved_comparison_of_the_two_counts(
    project: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    versions = [Version(hash_, {}, "3.11") for hash_ in project]
    header = Measurement(kind="compare", at=1, machine="fast", versions=(versions[0], versions[1]))
    writer = MeasurementWriter(Path("results"), header)
    writer.add(CaseRatio("s.time_a(2)", 1, (1.0, 1.0), 1.0, (0.99, 1.01), 0.0003, 0.0003))
    assert main(["compare", "--stored", "--before", "fast:HEAD~1", "--after", "fast:HEAD"]) == 0
    cells = rows_of(capsys.readouterr().out)["s.time_a(2)"]
    assert cells[:3] == ["300 µs", "300 µs", "±0.0 %"], "not the 200 and 240 µs of separate runs"
    assert cells[4:] == ["interleaved", "same"]


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
