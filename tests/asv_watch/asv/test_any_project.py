"""One line in asv.conf.json makes any asv project store and publish as this one does."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.asv_watch.asv.project import CONFIGURATION, Project
from tests.asv_watch.site.conftest import registered
from tests.asv_watch.site.stored_values import case_of
from tests.conftest import commit

SUITE = """
class Parser:
    params = ["short", "long"]
    param_names = ["lines"]
    number, repeat, warmup_time = 1, 3, 0

    def time_parse(self, lines):
        sum(range(1000))

    def time_print(self, lines):
        if lines == "long":
            raise RuntimeError("out of paper")

def track_words():
    return 3
track_words.unit = "words"
"""


@pytest.fixture
def published(make_repository: Callable[..., Path], tmp_path: Path) -> tuple[Project, str]:
    """A project that was measured at two commits and published; what asv printed."""
    assert CONFIGURATION["plugins"] == [".asv_watch"]
    files = {
        "asv.conf.json": json.dumps(CONFIGURATION),
        "benchmarks/__init__.py": "",
        "benchmarks/suite.py": SUITE,
    }
    project = Project(make_repository(files), tmp_path)
    project.asv(*project.run_arguments(), status=2)
    commit(project.folder, {"note": "x"}, "Change nothing that is measured")
    project.asv(*project.run_arguments(), status=2)
    return project, project.asv("publish", "--no-pull")


def test_a_foreign_project_is_stored_and_published_in_its_own_words(
    published: tuple[Project, str],
) -> None:
    project, output = published
    assert "The site is in" in output
    kinds = Counter("".join(path.suffixes[-2:]) for path in project.results.glob("*-*"))
    assert sorted(count for kind, count in kinds.items() if kind.endswith(".jsonl")) == [2, 2]
    assert len(list(project.results.glob("*-*.json"))) == 2
    page = (project.folder / "html" / "index.html").read_text()
    for word in ("PyTorch", "Model<", "torch release", "torch not pinned", 'href="#/releases"'):
        assert word not in page, word
    _, index = registered(project.folder / "html" / "data" / "index.js")
    assert index["layout"] == {"subject": "benchmark", "columns": ["lines"]}
    assert [group["name"] for group in index["groups"]] == ["suite", "suite · Parser"]
    assert [metric["label"] for metric in index["metrics"]] == ["time", "words"]
    assert index["published"] == []
    states: dict[str, Any] = {case_of(index, row): row["reason"] for row in index["series"]}
    [broken] = [reason for name, reason in states.items() if "time_print('long')" in name]
    assert broken == "RuntimeError: out of paper"
