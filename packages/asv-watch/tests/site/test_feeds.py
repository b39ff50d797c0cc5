"""The Atom feed: valid, one entry per change, ids that never change."""

import datetime

from tests.site.conftest import Project, parsed_xml, registered

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
