"""The Atom feeds (RFC 4287): an entry for each change, under an id that never changes."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from urllib.parse import quote

from torchspeed.watch.analysis.changes import Change, State
from torchspeed.watch.site import quantities
from torchspeed.watch.site.commit_changes import certainty
from torchspeed.watch.site.contents import Contents
from torchspeed.watch.site.index import change_id
from torchspeed.watch.site.quantities import timestamp

ENTRIES = 100
"""Newest changes that a feed holds."""

_ATOM = "http://www.w3.org/2005/Atom"
NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 cannot hold at all, not even as a character reference."""


def write_feed(
    contents: Contents,
    changes: Sequence[Change],
    *,
    name: str,
    title: str,
    project: str,
    site: str = "",
) -> bytes:
    """Render a feed; it depends on the changes alone, not on when it is written.

    Args:
        contents: The series and commits that the changes refer to.
        changes: What to list, newest first; only the first `ENTRIES` are.
        name: Name of the feed among those of the project, part of its permanent id.
        title: What the feed holds, in words.
        project: Name of the project.
        site: Address that the site is served under, with a slash at its end; without
            it links are relative to the feed's own address.
    """
    ET.register_namespace("", _ATOM)
    feed = ET.Element(f"{{{_ATOM}}}feed")
    commits = contents.history.commits
    urn = f"urn:torchspeed:{quote(project, safe='')}"
    _text(feed, "id", f"{urn}:{name}")
    _text(feed, "title", f"{project}: {title}")
    shown = changes[:ENTRIES]
    newest = max((commits[change.commit].date for change in shown), default=0)
    _text(feed, "updated", timestamp(newest))
    author = ET.SubElement(feed, f"{{{_ATOM}}}author")
    _text(author, "name", project)
    _link(feed, f"{site}index.html")
    for change in shown:
        entry = ET.SubElement(feed, f"{{{_ATOM}}}entry")
        row = contents.series[change.series]
        commit, previous = commits[change.commit], commits[change.previous]
        _text(entry, "id", f"{urn}:change:{_entry_id(contents, change)}")
        _text(entry, "title", _title(contents, change))
        _text(entry, "updated", timestamp(commit.date))
        _link(entry, f"{site}index.html#/changes?rev={commit.hash[:12]}&base={previous.hash[:12]}")
        unit = row.metric.unit
        before, after = (quantities.quantity(v, unit) for v in (change.before, change.after))
        _text(
            entry,
            "summary",
            f"{row.series.case.name} on {row.series.machine}, torch "
            f"{row.environment.torch or 'not pinned'}: {before} before, {after} from commit "
            f"{commit.hash[:8]} on ({commit.subject}); last measured before at "
            f"{previous.hash[:8]}. {certainty(change).capitalize()}. Cause: {change.cause}."
            f"{f' {change.note.kind.capitalize()}: {change.note.text}' if change.note else ''}",
        )
    ET.indent(feed)
    text: str = ET.tostring(feed, "unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'.encode()


def _entry_id(contents: Contents, change: Change) -> str:
    """A change that becomes confirmed, or is refuted, is a new entry."""
    suffix = "" if change.state is State.CONFIRMED else f":{change.state.value}"
    return f"{change_id(contents, change)}{suffix}"


def _title(contents: Contents, change: Change) -> str:
    row = contents.series[change.series]
    where = f"{row.model} {row.metric.label} {row.column}".strip()
    state = "" if change.state is State.CONFIRMED else f" ({change.state.value})"
    return f"{where}: {change.verdict}, {quantities.change(change.ratio)}{state}"


def _text(parent: ET.Element, tag: str, text: str) -> None:
    ET.SubElement(parent, f"{{{_ATOM}}}{tag}").text = NOT_XML.sub(
        "\N{REPLACEMENT CHARACTER}", text
    )


def _link(parent: ET.Element, address: str) -> None:
    ET.SubElement(parent, f"{{{_ATOM}}}link", {"href": address})
