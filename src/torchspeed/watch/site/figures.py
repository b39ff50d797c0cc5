"""Static figures, drawn with matplotlib: what is better as one picture than as a control.

Drawing is slow compared with everything else here, so a figure that the site already has is
taken from there: each carries a digest of all that went into it.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import io
import warnings
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torchspeed.watch.history.records import Case, Point
from torchspeed.watch.site import names, quantities
from torchspeed.watch.site.contents import Contents, SeriesSummary, Setup
from torchspeed.watch.site.feed import NOT_XML

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LONGEST = 80  # characters of a label
MOST_ROWS = 40
"""Rows of a figure; of more, the slowest are drawn."""

# The hues of devices: apart for every kind of colour vision (Okabe and Ito, 2008).
_HUES = {"cpu": "#007a5a", "cuda": "#94308f"}
_GREY = "#6e7781"
_WIDE, _WIDEST = 5.0, 500.0
"""Ratios of largest to least value above which ticks are at 1, 2 and 5, and at powers of ten."""


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
Values = Sequence[tuple[SeriesSummary, Point]]
"""Series with their newest values, all above zero."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture of the site, before it is drawn: all that it depends on."""

    file: str
    """Path below the site's folder."""
    title: str
    text: str
    """What a person who cannot see it should know."""
    rows: Rows = ()
    axis: str = "seconds"
    legend: tuple[tuple[str, Mark], ...] = ()
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
    figures = _figures(contents, published)
    for figure in figures:
        _write(folder, figure.file, figure, previous, draw_svg)
    title = "Nothing has been measured yet"
    cover = figures[0] if figures else Figure("", title, title)
    _write(folder, "figures/preview.png", cover, previous, _draw_preview)
    return figures


def _figures(contents: Contents, published: Sequence[dict[str, Any]]) -> tuple[Figure, ...]:
    if not contents.setups:
        return ()
    setup = contents.setups[0]
    values = [
        (row, row.last[1])
        for row in contents.of_setup(setup)
        if row.last and row.last[1].value > 0
    ]
    times = [(row, point) for row, point in values if row.metric.label == "time"]
    candidates = (
        _overview(times, setup, contents),
        _devices(times, setup),
        _published(values, published),
    )
    return tuple(figure for figure in candidates if figure.rows)


def _overview(times: Values, setup: Setup, contents: Contents) -> Figure:
    grouped: dict[str, list[Mark]] = defaultdict(list)
    legend: dict[tuple[str, bool, str], Mark] = {}
    for row, point in sorted(times, key=lambda pair: _row_order(pair[0])):
        device, direction = row.labels.get("device", ""), row.labels.get("pass", "")
        is_backward = direction == "backward"
        mark = Mark(1, _HUES.get(device, _GREY), not is_backward)
        legend[device, is_backward, direction] = mark
        mark = replace(mark, value=point.value, interval=point.interval)
        grouped[_name(row.series.case)].append(mark)
    rows = _slowest(grouped)
    labels = names.short_labels(contents.history.environments.values())
    where = f"{setup.machine.name}, {labels[setup.environment.name]}"
    slowest = max(rows, key=lambda row: _largest(row[1]), default=None)
    ending = f" Slowest: {slowest[0]}." if slowest else ""
    title = f"Newest time of each {contents.layout.subject} on {where}"
    return Figure(
        "figures/overview.svg",
        title,
        f"{title}, logarithmic axis.{ending}",
        rows,
        legend=tuple(
            (" · ".join(filter(None, (device, direction))), mark)
            for (device, _, direction), mark in sorted(legend.items(), key=itemgetter(0))
        ),
    )


def _devices(times: Values, setup: Setup) -> Figure:
    """GPU against CPU: how many times faster the same pass is."""
    values: dict[tuple[str, bool], dict[str, float]] = defaultdict(dict)
    for row, point in times:
        is_backward = row.labels.get("pass") == "backward"
        device = row.labels.get("device", "")
        values[_name(row.series.case), is_backward][device] = point.value
    grouped: dict[str, list[Mark]] = defaultdict(list)
    for (name, is_backward), of_device in sorted(values.items()):
        if of_device.keys() >= {"cpu", "cuda"}:
            ratio = of_device["cpu"] / of_device["cuda"]
            grouped[name].append(Mark(ratio, _HUES["cuda"], not is_backward))
    title = f"How many times faster the GPU is than the CPU of {setup.machine.name}"
    return Figure(
        "figures/devices.svg",
        title,
        f"{title}, model by model; below 1 it is slower.",
        _slowest(grouped),
        "CPU time / GPU time",
        (("forward", Mark(1, _HUES["cuda"])), ("backward", Mark(1, _HUES["cuda"], False))),
        reference=1.0,
    )


def _published(values: Values, published: Sequence[dict[str, Any]]) -> Figure:
    measured = {row.series.case.name: point.value for row, point in values}
    grouped: dict[str, list[Mark]] = {}
    for quoted in published:
        value = measured.get(quoted["case"])
        if value is not None:
            name = " · ".join((quoted["model"], quoted["device"], quoted["pass"]))
            ours = Mark(value, _HUES.get(quoted["device"], _GREY))
            marks = grouped.setdefault(name, [ours])
            marks.append(Mark(quoted["value"], _GREY, False, shape="D"))
    title = "Measured here, next to values that others published"
    return Figure(
        "figures/published.svg",
        title,
        f"{title}: other machines, and mostly other work under the same name.",
        _slowest(grouped),
        legend=(
            ("measured here", Mark(1, _HUES["cpu"])),
            ("published", Mark(1, _GREY, False, shape="D")),
        ),
    )


def _name(case: Case) -> str:
    return " · ".join([case.labels.get("model", case.benchmark), *names.settings(case.labels)])


def _row_order(row: SeriesSummary) -> tuple[str, str, bool]:
    labels = row.labels
    return (_name(row.series.case), labels.get("device", ""), labels.get("pass") == "backward")


def _largest(marks: Sequence[Mark]) -> float:
    return max(mark.value for mark in marks)


def _slowest(grouped: Mapping[str, list[Mark]]) -> Rows:
    """The rows in their order, of too many those with the largest values."""
    kept = sorted(grouped, key=lambda name: -_largest(grouped[name]))[:MOST_ROWS]
    return tuple((name, tuple(marks)) for name, marks in grouped.items() if name in kept)


def _write(
    folder: Path,
    name: str,
    figure: Figure,
    previous: Path | None,
    draw: Callable[[Figure, str], bytes],
) -> None:
    """Draw a figure, or take it from the site before if it would be the same."""
    version = importlib.metadata.version("matplotlib")
    state = f"{name} {figure!r} {version} {Path(__file__).read_text(encoding='utf-8')}"
    key = hashlib.blake2b(state.encode("utf-8", "replace"), digest_size=16).hexdigest()
    try:
        old = (previous / name).read_bytes() if previous else b""
    except OSError:
        old = b""
    content = old if key.encode() in old else draw(figure, key)
    (folder / name).write_bytes(content)


def draw_svg(figure: Figure, key: str) -> bytes:
    """A figure as an SVG file that carries a key."""
    height = 1.1 + 0.3 * len(figure.rows)
    return _draw(figure, (8.0, height), "svg", {"Date": None, "Creator": None, "Source": key})


def _draw_preview(figure: Figure, key: str) -> bytes:
    return _draw(figure, (12.0, 6.3), "png", {"Software": None, "Source": key}, heading=True)


def _draw(
    figure: Figure,
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
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.spines.left": False,
        "axes.grid": True,
        "axes.grid.axis": "x",
        "axes.axisbelow": True,
        "grid.color": "#d0d7de",
        "grid.linewidth": 0.6,
        "ytick.major.size": 0,
    }
    with mpl.rc_context(settings), warnings.catch_warnings():
        # It becomes a box in the PNG, and the browser's own font has it in an SVG.
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        canvas = Canvas(figsize=size, dpi=100, layout="constrained", facecolor="white")
        axes = canvas.subplots()
        _fill(axes, figure)
        if heading:
            canvas.suptitle(_safe(figure.title), fontsize=15)
        if any(label for label, _ in figure.legend):
            canvas.legend(loc="outside lower center", ncols=4, frameon=False)
        buffer = io.BytesIO()
        canvas.savefig(buffer, format=kind, metadata=metadata)
    return buffer.getvalue()


def _fill(axes: Axes, figure: Figure) -> None:
    from matplotlib.ticker import AutoLocator, LogLocator  # noqa: PLC0415 - as in _draw

    def plot(mark: Mark, x: Sequence[float], y: Sequence[float], label: str = "") -> None:
        face = mark.hue if mark.filled else "white"
        size = 6 if label else 5
        axes.plot(
            x, y, mark.shape, color=mark.hue, markerfacecolor=face, markersize=size, label=label
        )

    for line, (_, marks) in enumerate(figure.rows):
        for offset, mark in enumerate(marks):
            y = line + (offset - (len(marks) - 1) / 2) * 0.16
            if mark.interval is not None and mark.interval[0] > 0:
                axes.plot(mark.interval, (y, y), color=mark.hue, linewidth=2, alpha=0.5)
            plot(mark, [mark.value], [y])
    for label, mark in figure.legend:
        plot(mark, [], [], _safe(label))
    axes.set_yticks(range(len(figure.rows)), [_safe(label) for label, _ in figure.rows])
    if figure.rows:
        axes.set_ylim(len(figure.rows) - 0.5, -0.5)
        axes.set_xscale("log")
    axes.set_xlabel(figure.axis if figure.axis != "seconds" else "time (less is better)")
    if figure.axis == "seconds":
        axes.xaxis.set_major_formatter(lambda value, _: quantities.quantity(value, "seconds"))
    else:
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}×")
    axes.xaxis.set_minor_formatter("")
    values = [mark.value for _, marks in figure.rows for mark in marks]
    if values:
        span = max(values) / min(values)
        by_decades = LogLocator(subs=(1,) if span > _WIDEST else (1, 2, 5))
        axes.xaxis.set_major_locator(by_decades if span > _WIDE else AutoLocator())
    if figure.reference is not None:
        axes.axvline(figure.reference, color="#24292f", linewidth=1)


def _safe(text: str) -> str:
    """What an XML file can hold, short enough for a label."""
    text = NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
