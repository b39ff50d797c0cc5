"""The data files hold what the types in ``static`` declare: the script reads nothing else."""

import re
from collections.abc import Iterable
from typing import Any

import pytest

from asv_watch.site.build import STATIC
from tests.generator import Plan
from tests.planted_comparisons import (
    compared_cases,
    compared_releases,
    explained_releases,
    write_explanations,
)
from tests.site.conftest import make_project, registered

CASE = "time_series.TimeSeries.time_forward('darnn', 'cpu')"
DECLARATIONS = "".join(path.read_text() for path in sorted(STATIC.glob("*types.d.ts")))
_INTERFACE = re.compile(r"^interface (\w+)(?: extends (\w+))? \{\n(.*?)^\}", re.M | re.S)
_KEY = re.compile(r"^  (\w+)(\??):", re.M)


def required_keys() -> dict[str, set[str]]:
    """Name of each interface to the keys that may not be missing."""
    keys: dict[str, set[str]] = {}
    for name, parent, body in _INTERFACE.findall(DECLARATIONS):
        own = {key for key, optional in _KEY.findall(body) if not optional}
        keys[name] = own | keys.get(parent, set())
    return keys


@pytest.fixture(scope="module")
def objects(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    """Name of each interface to what a site with something of everything holds of it."""
    plan = Plan(commits=30, machines=("ci-2core",), machine_steps=1)
    project = make_project(tmp_path_factory.mktemp("types") / "it", plan)
    released = compared_releases("2.14.1", "2.15.0", {CASE: 1.1})
    stored = project.contents().history.comparisons["ci-2core"]
    explained = explained_releases("2.14.1", "2.15.0", CASE, "aten::mm", (1.0, 1.1))
    write_explanations(project.results / "ci-2core", [explained])
    cases = compared_cases((CASE, CASE), (0.2, 0.1), machine="ci-2core")
    project.build({"ci-2core": (*stored, *released, *cases)})
    folder = project.html
    _, index = registered(folder / "data" / "index.js")

    def files(pattern: str) -> list[Any]:
        return [registered(path)[1] for path in sorted((folder / "data").glob(pattern))]

    histories = files("s/*.js")
    sources = files("c/*.js")
    overview = index["overview"]
    releases = [history for file in files("releases.js") for history in file]
    steps = [step for history in releases for step in history["steps"]]
    return {
        "Index": [index],
        "Overview": [overview],
        "OverviewRelease": [overview["release"]],
        "Layout": [index["layout"]],
        "Machine": index["machines"],
        "Environment": index["environments"],
        "Metric": index["metrics"],
        "Group": index["groups"],
        "Benchmark": index["benchmarks"],
        "CaseRow": index["rows"],
        "CaseColumn": index["columns"],
        "CaseEntry": index["cases"],
        "SeriesRow": index["series"],
        "NewestValue": [entry["last"] for entry in index["series"] if entry["last"]],
        "Change": index["changes"],
        "CommitRange": index["ranges"],
        "HistoryEvent": index["events"],
        "NewestRun": index["newest_runs"],
        "ComparedCases": index["case_pairs"],
        "BenchmarkFile": histories,
        "BenchmarkSeries": [series for entry in histories for series in entry["series"]],
        "BenchmarkSource": sources,
        "Summary": [step[kind] for step in steps for kind in ("time", "memory")],
        "StepRatio": [ratio for step in steps for ratio in step["ratios"]],
        "Compared": [ratio for step in steps for ratio in step["ratios"]],
        "CaseComparison": [
            compared
            for source in sources
            for of_case in source["comparisons"].values()
            for compared in of_case
        ],
        "Explained": [
            explained
            for source in sources
            for of_case in source["explanations"].values()
            for explained in of_case
        ],
        "ReleaseHistory": releases,
        "ReleaseCase": [case for history in releases for case in history["cases"]],
        "ReleaseStep": [step for history in releases for step in history["steps"]],
    }


def test_every_interface_is_written_with_all_its_keys(objects: dict[str, list[Any]]) -> None:
    for name, keys in required_keys().items():
        assert objects[name], name
        assert_keys(name, keys, objects[name])


def assert_keys(name: str, keys: set[str], objects: Iterable[dict[str, Any]]) -> None:
    for entry in objects:
        assert keys <= entry.keys(), (name, keys - entry.keys())
