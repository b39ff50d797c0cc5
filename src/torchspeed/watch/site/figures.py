"""Static figures, drawn with matplotlib: what is better as one picture than as a control.

Drawing is slow beside everything else here, so a figure that the site already has is
taken from there: each carries a digest of all that went into it.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import io
import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torchspeed.watch.history.records import Case
from torchspeed.watch.site import names, quantities
from torchspeed.watch.site.answers import newest_release
from torchspeed.watch.site.contents import Contents, SeriesSummary, Setup

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

_LONGEST = 80  # characters of a label
MOST_ROWS = 40
"""Rows of a figure; of more, the slowest are drawn."""

# The hues of devices and verdicts: apart for every kind of colour vision (Okabe and Ito, 2008).
_HUES = {"cpu": "#007a5a", "cuda": "#94308f"}
_GREY, _BETTER, _WORSE = "#6e7781", "#0550ae", "#b35900"
_WIDE, _WIDEST = 5.0, 500.0
"""Largest over least value, from which on ticks stand at 1, 2 and 5, and at powers of ten."""
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd]")


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture on the site and what it shows."""

    file: str
    title: str
    text: str
    """What a person who cannot see it should know."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A value in a row of a figure."""

    value: float
    hue: str
    filled: bool = True
    interval: tuple[float, float] | None = None
    shape: str = "o"


Rows = tuple[tuple[str, tuple[Mark, ...]], ...]
"""A label and its marks for each row, top to bottom."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """A figure before it is drawn: all that it depends on."""

    figure: Figure
    rows: Rows
    axis: str
    legend: tuple[tuple[str, Mark], ...]
    reference: float | None = None
    """Where to draw a line: 1 where the axis is of ratios."""


def write_figures(
    folder: Path,
    contents: Contents,
    published: Sequence[dict[str, Any]],
    previous: Path | None = None,
) -> tuple[Figure, ...]:
    """Draw every figure for which there is data.

    Args:
        folder: The site; figures go below ``figures/``.
        contents: What to draw.
        published: Values from the literature.
        previous: A site published before, to take unchanged figures from.

    Returns:
        The figures to show on the page: all but the picture for link previews.
    """
    (folder / "figures").mkdir(parents=True, exist_ok=True)
    drawings = _drawings(contents, published)
    for drawing in drawings:
        _write(folder, drawing.figure.file, drawing, previous, _draw_svg)
    cover = drawings[0] if drawings else _nothing()
    _write(folder, "figures/preview.png", cover, previous, _draw_preview)
    return tuple(drawing.figure for drawing in drawings)


def _drawings(contents: Contents, published: Sequence[dict[str, Any]]) -> list[Drawing]:
    if not contents.setups:
        return []
    setup = contents.setups[0]
    measured = [
        row for row in contents.of_setup(setup) if row.last is not None and row.last[1].value > 0
    ]
    times = [row for row in measured if row.metric.label == "time"]
    candidates = (
        _overview(times, setup),
        _devices(times, setup),
        _releases(contents),
        _published(measured, published),
    )
    return [drawing for drawing in candidates if drawing.rows]


def _overview(rows: Sequence[SeriesSummary], setup: Setup) -> Drawing:
    grouped: dict[str, list[Mark]] = {}
    for row in sorted(rows, key=_as_listed):
        if row.last is not None:
            point = row.last[1]
            mark = Mark(point.value, _hue(row), _is_forward(row), point.interval)
            grouped.setdefault(_name(row.series.case), []).append(mark)
    chosen = _slowest(grouped)
    where = f"{setup.machine.name}, torch {setup.environment.torch or 'not pinned'}"
    slowest = max(chosen, key=lambda row: _largest(row[1]), default=None)
    ending = f" Slowest: {slowest[0]}." if slowest else ""
    title = f"Newest time of each model on {where}"
    return Drawing(
        Figure("figures/overview.svg", title, f"{title}, logarithmic axis.{ending}"),
        chosen,
        "seconds",
        _legend(rows),
    )


def _devices(rows: Sequence[SeriesSummary], setup: Setup) -> Drawing:
    """GPU against CPU: how many times faster the same pass is."""
    values: dict[tuple[str, bool], dict[str, float]] = {}
    for row in rows:
        labels = row.labels
        if row.last is not None and labels.get("device") in _HUES:
            key = (_name(row.series.case), labels.get("pass", "") == "backward")
            values.setdefault(key, {})[labels["device"]] = row.last[1].value
    grouped: dict[str, list[Mark]] = {}
    for (name, is_backward), of in sorted(values.items()):
        if of.keys() >= {"cpu", "cuda"}:
            ratio = of["cpu"] / of["cuda"]
            mark = Mark(ratio, _HUES["cuda"], not is_backward)
            grouped.setdefault(name, []).append(mark)
    title = f"How many times faster the GPU is than the CPU of {setup.machine.name}"
    legend = (("forward", Mark(1, _HUES["cuda"])), ("backward", Mark(1, _HUES["cuda"], False)))
    return Drawing(
        Figure("figures/devices.svg", title, f"{title}, model by model; below 1 it is slower."),
        _slowest(grouped),
        "CPU time / GPU time",
        legend,
        reference=1.0,
    )


def _releases(contents: Contents) -> Drawing:
    """The newest torch against the one before, on the first machine that has two."""
    release = newest_release(contents)
    if release is None:
        return _nothing()
    grouped: dict[str, list[Mark]] = {}
    for one in release.cases:
        if one.unit == "seconds" and one.ratio is not None:
            labels = one.case.labels
            hue = {"better": _BETTER, "worse": _WORSE}.get(one.verdict.value, _GREY)
            mark = Mark(one.ratio, hue, labels.get("pass") != "backward", one.interval)
            metric = "" if labels["metric"] == "time" else labels["metric"]
            name = " · ".join(filter(None, (_name(one.case), labels.get("device"), metric)))
            grouped.setdefault(name, []).append(mark)
    commit = contents.history.commits[release.commit].hash[:8]
    title = (
        f"torch {release.new} against {release.old} on {release.setup.machine.name}, both at "
        f"commit {commit}: new time / old time"
    )
    legend = (
        ("forward, no clear difference", Mark(1, _GREY)),
        ("backward, no clear difference", Mark(1, _GREY, False)),
        ("faster", Mark(1, _BETTER)),
        ("slower", Mark(1, _WORSE)),
    )
    text = f"{title}; below 1 the new release is faster. Grey where there is no clear difference."
    return Drawing(
        Figure("figures/releases.svg", title, text),
        _slowest(grouped),
        "new / old",
        legend,
        reference=1.0,
    )


def _published(rows: Sequence[SeriesSummary], published: Sequence[dict[str, Any]]) -> Drawing:
    ours = {row.series.case.name: row.last[1].value for row in rows if row.last is not None}
    grouped: dict[str, list[Mark]] = {}
    for one in published:
        if one["case"] in ours:
            name = " · ".join((one["model"], one["device"], one["pass"]))
            marks = grouped.setdefault(name, [])
            if not marks:
                marks.append(Mark(ours[one["case"]], _HUES.get(one["device"], _GREY)))
            marks.append(Mark(one["value"], _GREY, False, shape="D"))
    title = "Measured here, next to values that others published"
    text = f"{title}: other machines, and mostly other work under the same name."
    legend = (
        ("measured here", Mark(1, _HUES["cpu"])),
        ("published", Mark(1, _GREY, False, shape="D")),
    )
    return Drawing(
        Figure("figures/published.svg", title, text), _slowest(grouped), "seconds", legend
    )


def _nothing() -> Drawing:
    title = "Nothing has been measured yet"
    return Drawing(Figure("", title, title), (), "seconds", ())


def _name(case: Case) -> str:
    return " · ".join([case.labels.get("model", case.benchmark), *names.settings(case.labels)])


def _as_listed(row: SeriesSummary) -> tuple[str, str, bool]:
    labels = row.labels
    return (_name(row.series.case), labels.get("device", ""), not _is_forward(row))


def _hue(row: SeriesSummary) -> str:
    return _HUES.get(row.labels.get("device", ""), _GREY)


def _is_forward(row: SeriesSummary) -> bool:
    return row.labels.get("pass") != "backward"


def _legend(rows: Sequence[SeriesSummary]) -> tuple[tuple[str, Mark], ...]:
    entries = {
        (
            row.labels.get("device", ""),
            not _is_forward(row),
            row.labels.get("pass", ""),
        ): Mark(1, _hue(row), _is_forward(row))
        for row in rows
    }
    return tuple(
        (" · ".join(filter(None, (device, direction))), mark)
        for (device, _, direction), mark in sorted(entries.items(), key=lambda entry: entry[0])
    )


def _largest(marks: Sequence[Mark]) -> float:
    return max(mark.value for mark in marks)


def _slowest(grouped: dict[str, list[Mark]]) -> Rows:
    """The rows in their order, of too many those with the largest values."""
    kept = sorted(grouped, key=lambda name: -_largest(grouped[name]))[:MOST_ROWS]
    return tuple((name, tuple(marks)) for name, marks in grouped.items() if name in kept)


def _write(
    folder: Path,
    name: str,
    drawing: Drawing,
    previous: Path | None,
    draw: Callable[[Drawing, str], bytes],
) -> None:
    """Draw a figure, or take it from the site before if it would be the same."""
    version = importlib.metadata.version("matplotlib")
    state = f"{name} {drawing!r} {version} {Path(__file__).read_text(encoding='utf-8')}"
    key = hashlib.blake2b(state.encode("utf-8", "replace"), digest_size=16).hexdigest()
    try:
        old = (previous / name).read_bytes() if previous else b""
    except OSError:
        old = b""
    content = old if key.encode() in old else draw(drawing, key)
    (folder / name).write_bytes(content)


def _draw_svg(drawing: Drawing, key: str) -> bytes:
    height = 1.1 + 0.3 * len(drawing.rows)
    return _draw(drawing, (8.0, height), "svg", {"Date": None, "Creator": None, "Source": key})


def _draw_preview(drawing: Drawing, key: str) -> bytes:
    return _draw(drawing, (12.0, 6.3), "png", {"Software": None, "Source": key}, heading=True)


def _draw(
    drawing: Drawing,
    size: tuple[float, float],
    kind: str,
    metadata: dict[str, str | None],
    heading: bool = False,
) -> bytes:
    import matplotlib as mpl  # noqa: PLC0415 - half a second that a cached figure saves
    from matplotlib.figure import Figure as Canvas  # noqa: PLC0415

    settings: dict[Any, Any] = {
        "svg.hashsalt": "torchspeed",
        "svg.fonttype": "none",
        "font.family": ["DejaVu Sans"],
        "font.size": 9,
        "text.parse_math": False,
    }
    with mpl.rc_context(settings), warnings.catch_warnings():
        # It becomes a box in the PNG, and the browser's own font has it in an SVG.
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        canvas = Canvas(figsize=size, dpi=100, layout="constrained", facecolor="white")
        axes = canvas.subplots()
        _fill(axes, drawing)
        if heading:
            canvas.suptitle(_safe(drawing.figure.title), fontsize=15)
        if drawing.legend:
            _explain(canvas, drawing)
        buffer = io.BytesIO()
        canvas.savefig(buffer, format=kind, metadata=metadata)
    return buffer.getvalue()


def _fill(axes: Axes, drawing: Drawing) -> None:
    from matplotlib.ticker import AutoLocator, LogLocator  # noqa: PLC0415 - as in _draw

    for line, (_, marks) in enumerate(drawing.rows):
        for offset, mark in enumerate(marks):
            y = line + (offset - (len(marks) - 1) / 2) * 0.16
            if mark.interval is not None and mark.interval[0] > 0:
                axes.plot(mark.interval, (y, y), color=mark.hue, linewidth=2, alpha=0.5)
            face = mark.hue if mark.filled else "white"
            axes.plot(
                mark.value, y, mark.shape, color=mark.hue, markerfacecolor=face, markersize=5
            )
    axes.set_yticks(range(len(drawing.rows)), [_safe(label) for label, _ in drawing.rows])
    if drawing.rows:
        axes.set_ylim(len(drawing.rows) - 0.5, -0.5)
        axes.set_xscale("log")
    axes.set_xlabel(drawing.axis if drawing.axis != "seconds" else "time (less is better)")
    if drawing.axis == "seconds":
        axes.xaxis.set_major_formatter(lambda value, _: quantities.quantity(value, "seconds"))
    else:
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}×")
    axes.xaxis.set_minor_formatter("")
    values = [mark.value for _, marks in drawing.rows for mark in marks]
    if values:
        span = max(values) / min(values)
        by_decades = LogLocator(subs=(1,) if span > _WIDEST else (1, 2, 5))
        axes.xaxis.set_major_locator(by_decades if span > _WIDE else AutoLocator())
    if drawing.reference is not None:
        axes.axvline(drawing.reference, color="#24292f", linewidth=1)
    axes.grid(axis="x", color="#d0d7de", linewidth=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.tick_params(axis="y", length=0)


def _explain(canvas: Canvas, drawing: Drawing) -> None:
    from matplotlib.lines import Line2D  # noqa: PLC0415 - as in _draw

    handles = [
        Line2D(
            [],
            [],
            linestyle="",
            marker=mark.shape,
            color=mark.hue,
            markerfacecolor=mark.hue if mark.filled else "white",
            label=_safe(label),
        )
        for label, mark in drawing.legend
    ]
    canvas.legend(handles=handles, loc="outside lower center", ncols=4, frameon=False)


def _safe(text: str) -> str:
    """What an XML file can hold, short enough for a label."""
    text = _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
