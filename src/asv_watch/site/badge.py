"""``badge.svg``: measured changes of the newest commits, in one small picture for other pages."""

from __future__ import annotations

from collections import Counter

from asv_watch.site.commit_changes import recent_changes
from asv_watch.site.contents import Contents
from asv_watch.site.rendering import render

# White on these has a contrast of at least 4.5 : 1, and the words say the same.
_GREY, _BLUE, _ORANGE = "#57606a", "#0550ae", "#a04100"
_LETTER = 6.6  # pixels of an average letter at 11 px


def write_badge(contents: Contents) -> bytes:
    """Render the badge."""
    _, changes = recent_changes(contents, contents.changes)
    counts = Counter[str](change.verdict for change in changes if change.is_measured)
    text = ", ".join(f"{counts[word]} {word}" for word in ("worse", "better") if counts[word])
    colour = _ORANGE if counts["worse"] else _BLUE
    if not counts:
        text, colour = "no change" if contents.setups else "not measured", _GREY
    width = round(len(text) * _LETTER) + 12
    return render("badge.svg", left=42, right=width, text=text, colour=colour).encode()
