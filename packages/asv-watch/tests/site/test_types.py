"""The data files hold what their structs say, and so what the script's types say."""

import json
from pathlib import Path
from typing import Any

import msgspec

from asv_watch.site.data_files import BenchmarkFile, BenchmarkSource, PairRow
from asv_watch.site.index import Index
from asv_watch.site.release_data import ReleaseHistoryData
from tests.generator import Plan
from tests.planted_comparisons import (
    compared_cases,
    compared_releases,
    explained_releases,
    write_explanations,
)
from tests.site.conftest import make_project, registered

CASE = "time_series.TimeSeries.time_forward('darnn', 'cpu')"
FILES = {
    "index.js": Index,
    "s/*.js": BenchmarkFile,
    "c/*.js": BenchmarkSource,
    "releases.js": list[ReleaseHistoryData],
    "release-pairs.js": list[dict[str, list[PairRow]]],
}


def test_what_is_published_has_the_types_of_its_structs(tmp_path: Path) -> None:
    """A site with something of everything."""
    plan = Plan(commits=30, machines=("ci-2core",), machine_steps=1)
    project = make_project(tmp_path / "it", plan)
    released = compared_releases("2.14.1", "2.15.0", {CASE: 1.1})
    stored = project.contents().history.comparisons["ci-2core"]
    explained = explained_releases("2.14.1", "2.15.0", CASE, "aten::mm", (1.0, 1.1))
    write_explanations(project.results / "ci-2core", [explained])
    cases = compared_cases((CASE, CASE), (0.2, 0.1), machine="ci-2core")
    project.build({"ci-2core": (*stored, *released, *cases)})
    for pattern, kind in FILES.items():
        paths = sorted((project.html / "data").glob(pattern))
        assert paths, pattern
        for path in paths:
            _, data = registered(path)
            read: Any = msgspec.convert(data, kind, str_keys=True)
            assert json.loads(msgspec.json.encode(read)) == data, path
