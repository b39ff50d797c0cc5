"""Six things that can become of a case, from a real asv run to the published site, told apart."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlencode

from tests.asv_watch.asv.project import CONFIGURATION, Project
from tests.asv_watch.site.conftest import labels_of
from tests.browser.visitor import Visitor
from tests.conftest import git

SUITE = """
import time

class Kinds:
    params = ["good", "broken", "slow", "shy", "old", "new"]
    param_names = ["kind"]
    timeout = 8

    def setup(self, kind):
        if kind == "shy":
            raise NotImplementedError("needs a full moon")

    def track_it(self, kind):
        if kind == "broken":
            raise RuntimeError("out of cheese")
        if kind == "slow":
            time.sleep(60)
        return 42.0

class Uncached:
    def setup_cache(self):
        raise RuntimeError("the cache ran dry")

    def track_cached(self, cache):
        return 1.0
"""


def test_ok_failed_timed_out_skipped_stale_and_never_run_are_told_apart(
    make_repository: Callable[..., Path], tmp_path: Path, visit: Callable[..., Visitor]
) -> None:
    folder = make_repository(
        {
            "asv.conf.json": json.dumps(CONFIGURATION),
            "benchmarks/__init__.py": "",
            "benchmarks/suite.py": SUITE,
        }
    )
    git(folder, "commit", "--quiet", "--allow-empty", "--message", "Change nothing")
    project = Project(folder, tmp_path)
    here = ("run", "--machine", "m", "-E", f"existing:{sys.executable}", "--set-commit-hash")
    project.asv(*here, "HEAD~1", "--bench", r"\('(good|old)'")
    project.asv(
        *(*here, "HEAD", "--bench", r"\('(good|broken|slow|shy)'", "--bench", "cached"), status=2
    )
    project.asv("publish")

    index = json.loads((folder / "html" / "index.json").read_text())
    series = {
        labels_of(index, entry).get("kind", "cached"): (
            entry["status"],
            entry["behind"],
            entry["reason"],
        )
        for entry in index["series"]
    }
    assert series.keys() == {"good", "broken", "slow", "shy", "old", "new", "cached"}

    visitor = visit((folder / "html" / "index.html").as_uri())
    shown = {
        "good": ("✓ ok", ""),
        "broken": ("✗ failed", "RuntimeError: out of cheese"),
        "cached": ("✗ failed", "RuntimeError: the cache ran dry"),
        "slow": ("⏱ timed out", "stopped after 8 s"),
        "shy": ("– skipped", "needs a full moon"),
        "old": ("◷ behind", "1 commit behind the newest"),
        "new": ("· never run", ""),
    }
    for kind, row in shown.items():
        visitor.go("#/about?" + urlencode({"outcome": series[kind][0]}))
        rows = visitor.rows("#about-app table.list")
        assert [tuple(cells[1:3]) for cells in rows if kind in cells[0]] == [row]
    visitor.go("#/about")  # what needs a look, where nothing else is asked for
    rows = visitor.rows("#about-app table.list")
    assert sorted(row[1] for row in rows) == ["⏱ timed out", "✗ failed", "✗ failed"]
