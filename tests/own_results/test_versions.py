"""``results/notes.toml`` names the versions of this project as its changelog does."""

from __future__ import annotations

import re
import tomllib

from asv_watch.records.loading import load_history
from asv_watch.records.notes import read_notes
from asv_watch.versions.git import read_commits
from asv_watch.versions.releases import release_order
from tests.conftest import ROOT


def test_the_versions_of_this_project_are_commits_of_it() -> None:
    commits = read_commits(ROOT, "main")
    notes, problems = read_notes(ROOT / "results", commits)
    assert problems == []
    assert notes.unplaced == ()
    ordered = sorted(notes.versions, key=notes.versions.__getitem__)
    assert ordered == sorted(notes.versions, key=release_order)
    shown = load_history(ROOT / "results", commits).commits
    assert set(ordered) <= {tag for commit in shown for tag in commit.tags}
    changelog = (ROOT / "CHANGELOG.md").read_text()
    sections = re.findall(r"^## \[(\d\S*)\] - 20\d\d-\d\d-\d\d$", changelog, re.M)
    assert [f"v{section}" for section in reversed(sections)] == ordered
    package = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert package["version"] == sections[0]
