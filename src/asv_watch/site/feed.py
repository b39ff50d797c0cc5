"""The Atom feeds (RFC 4287): an entry for each measured change, under an id that never changes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import quote

from asv_watch.judge.changes import Change
from asv_watch.site.change_data import change_id
from asv_watch.site.contents import Contents
from asv_watch.site.rendering import render

ENTRIES = 100
"""Newest changes that a feed holds."""

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
    shown, commits = changes[:ENTRIES], contents.history.commits
    text = render(
        "feed.xml",
        urn=f"urn:torchspeed:{quote(project, safe='')}",
        name=name,
        title=title,
        project=project,
        site=site,
        updated=max((commits[change.commit].date for change in shown), default=0),
        changes=[(change, change_id(contents, change)) for change in shown],
        contents=contents,
        commits=commits,
    )
    return NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text).encode()
