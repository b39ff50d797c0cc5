"""The data files hold what their structs say, and so what the script's types say."""

import json
from pathlib import Path
from typing import Any, Literal

import msgspec

from asv_watch.site.data_files import BenchmarkFile, BenchmarkSource, PairRow
from asv_watch.site.index import Index
from asv_watch.site.release_data import ReleaseHistoryData
from asv_watch.statistics.rule import Verdict
from tests.generator import Plan
from tests.js.page_types import Declarations
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


class Pair(msgspec.Struct, array_like=True):
    first: int
    words: Literal["a", "b"]


class HeldData(msgspec.Struct, omit_defaults=True):
    start: float | None = msgspec.field(name="from")
    pairs: tuple[Pair, ...] = ()


class Whole(msgspec.Struct):
    held: dict[str, HeldData]
    ends: tuple[float, float] | None = None
    verdict: list[Verdict | None] = []


def test_structs_become_types_of_the_script() -> None:
    assert str(Declarations(Whole)) == (
        "interface Whole { held: Record<string, Held>; ends: [number, number] | null; "
        'verdict: Array<"better" | "worse" | "same" | null> }\n'
        "interface Held { from: number | null; pairs?: Array<Pair> }\n"
        'type Pair = [first: number, words: "a" | "b"];\n'
    )
