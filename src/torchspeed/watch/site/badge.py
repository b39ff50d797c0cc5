"""``badge.svg``: the changes of the newest commits, in one small picture for other pages."""

from __future__ import annotations

from collections import Counter

from torchspeed.watch.analysis.changes import State
from torchspeed.watch.site.commit_changes import recent_changes
from torchspeed.watch.site.contents import Contents

# White on these has a contrast of at least 4.5 : 1, and the words say the same.
_GREY, _BLUE, _ORANGE = "#57606a", "#0550ae", "#a04100"
_LETTER = 6.6  # pixels of an average letter at 11 px


def write_badge(contents: Contents) -> bytes:
    """Render the badge."""
    _, changes = recent_changes(contents)
    confirmed = [change for change in changes if change.state is State.CONFIRMED]
    unconfirmed = len(changes) - len(confirmed)
    counts = Counter[str](change.verdict for change in confirmed)
    counts["unconfirmed"] = unconfirmed
    if not contents.setups:
        text, colour = "not measured", _GREY
    elif not changes:
        text, colour = "no change", _GREY
    else:
        words = [f"{counts[word]} {word}" for word in ("worse", "better", "unconfirmed")]
        text = ", ".join(word for word in words if not word.startswith("0 "))
        is_worse = any(change.verdict == "worse" for change in changes)
        colour = _ORANGE if is_worse else _BLUE
    left, right = 42, round(len(text) * _LETTER) + 12
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" '
        f'role="img" aria-label="speed: {text}"><title>speed: {text}</title>'
        f'<rect width="{left}" height="20" fill="#24292f"/>'
        f'<rect x="{left}" width="{right}" height="20" fill="{colour}"/>'
        '<g fill="#fff" text-anchor="middle" font-size="11" '
        'font-family="Verdana,DejaVu Sans,sans-serif">'
        f'<text x="{left / 2}" y="14">speed</text>'
        f'<text x="{left + right / 2}" y="14">{text}</text></g></svg>\n'
    ).encode()
