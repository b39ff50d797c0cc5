"""The Atom feed: valid, one entry per change, ids that never change."""

from __future__ import annotations

import datetime
from pathlib import Path

from tests.asv_watch.generator import Plan
from tests.asv_watch.site.conftest import Project, make_project, parsed_xml, registered

ATOM = "{http://www.w3.org/2005/Atom}"


def test_every_entry_has_what_atom_requires(published: Project) -> None:
    feed = parsed_xml((published.html / "feed.xml").read_bytes())
    _, index = registered(published.html / "data/index.js")
    entries = feed.findall(f"{ATOM}entry")
    assert entries
    measured = [change for change in index["changes"] if change["state"] == "measured"]
    assert len(entries) == min(100, len(measured))
    for element in (feed, *entries):
        for required in ("id", "title", "updated"):
            result = element.findall(f"{ATOM}{required}")
            assert len(result) == 1
            assert result[0].text
        updated = element.findtext(f"{ATOM}updated")
        assert updated is not None
        datetime.datetime.fromisoformat(updated)
    assert feed.find(f"{ATOM}author/{ATOM}name") is not None
    ids = [entry.findtext(f"{ATOM}id") for entry in entries]
    assert len(set(ids)) == len(ids)


def test_ids_stay_when_the_history_grows(tmp_path: Path) -> None:
    project = make_project(tmp_path / "it", Plan(commits=40, machines=("ci-2core",)))
    hashes = project.generated.hashes
    project.publish("-o", "whole")
    project.publish("-o", "part", hashes[-10])
    feeds = [
        parsed_xml((project.root / name / "feed.xml").read_bytes()) for name in ("whole", "part")
    ]
    whole, part = (
        {entry.findtext(f"{ATOM}id") for entry in feed.iter(f"{ATOM}entry")} for feed in feeds
    )
    assert part
    assert len(part & whole) >= 0.9 * len(part)
