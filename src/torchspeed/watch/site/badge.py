"""``badge.svg``: what the newest commit changed, in one small picture for other pages."""

from __future__ import annotations

from torchspeed.watch.site.standing import Standings

# White on these has a contrast of at least 4.5 : 1, and the words say the same.
_GREY, _BLUE, _ORANGE = "#57606a", "#0550ae", "#a04100"
_LETTER = 6.6  # pixels of an average letter at 11 px


def write_badge(standings: Standings) -> bytes:
    """Render the badge."""
    newest = max((commits[-1] for commits in standings.measured.values() if commits), default=None)
    verdicts = [one.verdict for one in standings.changes if one.commit == newest]
    worse, better = verdicts.count("worse"), verdicts.count("better")
    if newest is None:
        text, colour = "not measured", _GREY
    elif worse or better:
        text = ", ".join(
            f"{count} {word}" for count, word in ((worse, "worse"), (better, "better")) if count
        )
        colour = _ORANGE if worse else _BLUE
    else:
        text, colour = "no change", _GREY
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
