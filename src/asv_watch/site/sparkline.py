"""Sparklines as inline SVG: the recent values of one series, nothing but its shape."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from markupsafe import Markup

WIDTH, HEIGHT, MARGIN = 120, 24, 2
_LEAST_SPAN = 0.06
"""Relative change that the full height shows at least, so that noise looks small."""
_ONE_SPIKE_IN = 30
"""Of so many values the highest and the lowest may be clipped: one spike in a line of sixty
must not flatten the rest, a change of three values must show."""


def sparkline(
    values: Sequence[float | None], verdict: str = "", cuts: Collection[int] = ()
) -> Markup:
    """Draw values at equal distances; the line spans what was not measured.

    Args:
        values: Oldest first.
        verdict: ``better`` or ``worse`` to colour it, else it stays grey.
        cuts: Places at which the line starts anew, as other conditions begin there.

    Returns:
        Nothing where no two values were measured under the same conditions.

    The drawing is decoration next to the value it belongs to, so it is hidden
    from screen readers. It carries no style of its own: classes say what it is.
    """
    known = [value for value in values if value is not None]
    if len(known) < 2:
        return Markup("")
    low, high = _bounds(known)
    middle = (low + high) / 2
    span = max(high - low, abs(middle) * _LEAST_SPAN) or 1.0
    step = (WIDTH - 2 * MARGIN) / (len(values) - 1)
    path: list[str] = []
    command = "M"
    for index, value in enumerate(values):
        command = "M" if index in cuts else command
        if value is None:
            continue
        x = MARGIN + index * step
        y = HEIGHT / 2 - (min(max(value, low), high) - middle) / span * (HEIGHT - 2 * MARGIN)
        path.append(f"{command}{x:.1f} {y:.1f}")
        command = "L"
    if not any(part.startswith("L") for part in path):
        return Markup("")
    return Markup(
        '<svg class="spark {}" viewBox="0 0 {} {}" preserveAspectRatio="none" '
        'aria-hidden="true"><path class="line" d="{}"/></svg>'
    ).format(verdict, WIDTH, HEIGHT, "".join(path))


def _bounds(known: Sequence[float]) -> tuple[float, float]:
    """Return what the height shows: everything but lone spikes, which end at the edge."""
    ordered = sorted(known)
    spikes = len(ordered) // _ONE_SPIKE_IN
    return ordered[spikes], ordered[-1 - spikes]
