"""What other programs show of the site: an Atom feed (RFC 4287) and the badge.

The feed has an entry for each measured change, under an id that never changes.
"""

from __future__ import annotations

import re
from collections import Counter
from urllib.parse import quote

from asv_watch.site.change_data import change_id, recent_changes
from asv_watch.site.contents import Contents
from asv_watch.site.pages import render

ENTRIES = 100
"""Newest changes that the feed holds."""

NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 cannot hold at all, not even as a character reference."""

# White on these has a contrast of at least 4.5 : 1, and the words say the same.
_GREY, _BLUE, _ORANGE = "#57606a", "#0550ae", "#a04100"
_LETTER = 6.6  # pixels of an average letter at 11 px


def write_feed(contents: Contents, *, project: str, site: str = "") -> bytes:
    """Render the feed; it depends on the changes alone, not on when it is written.

    Args:
        contents: The changes, and the series and commits that they refer to.
        project: Name of the project.
        site: Address that the site is served under, with a slash at its end; without
            it links are relative to the feed's own address.
    """
    commits = contents.history.commits
    shown = [change for change in contents.changes if change.is_measured][:ENTRIES]
    text = render(
        "feed.xml",
        urn=f"urn:torchspeed:{quote(project, safe='')}",
        project=project,
        site=site,
        updated=max((commits[change.commit].date for change in shown), default=0),
        changes=[(change, change_id(contents, change)) for change in shown],
        contents=contents,
        commits=commits,
    )
    return NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text).encode()


def write_badge(contents: Contents) -> bytes:
    """Render ``badge.svg``: the measured changes of the newest commits, counted."""
    _, changes = recent_changes(contents, contents.changes)
    counts = Counter[str](change.verdict for change in changes if change.is_measured)
    text = ", ".join(f"{counts[word]} {word}" for word in ("worse", "better") if counts[word])
    colour = _ORANGE if counts["worse"] else _BLUE
    if not counts:
        text, colour = "no change" if contents.setups else "not measured", _GREY
    width = round(len(text) * _LETTER) + 12
    return render("badge.svg", left=42, right=width, text=text, colour=colour).encode()
