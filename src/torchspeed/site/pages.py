"""The page, rendered so that its numbers read without JavaScript."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment as Templates
from jinja2 import FileSystemLoader, StrictUndefined
from markupsafe import Markup

from torchspeed.history.noise import machine_noise
from torchspeed.site import names, quantities
from torchspeed.site.data_files import RULES
from torchspeed.site.latest import Batch, batches, largest, recent_changes, speeds
from torchspeed.site.matrix import mark, places
from torchspeed.site.sparkline import sparkline
from torchspeed.site.standing import Change, Standing, Standings

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'none'"
)
"""Content-security policy of the page: nothing inline, nothing from elsewhere."""

LATEST = 50
"""Changes listed without JavaScript."""
LATEST_BATCHES = 8
"""Lines of the overview's list of changes."""


def render_page(
    standings: Standings,
    *,
    generated: int,
    project: dict[str, str],
    figures: Sequence[dict[str, Any]],
) -> bytes:
    """Render ``index.html``."""
    templates = Templates(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters.update(
        quantity=quantities.quantity,
        change=quantities.change,
        day=_day,
        moment=_moment,
        instant=_instant,
        faster=_faster,
        timeline=_timeline_address,
        css=_class,
        mark=_mark,
        sparkline=sparkline,
    )
    commits = standings.history.commits

    def short(index: int) -> str:
        return commits[index].hash[:8]

    def commit_link(index: int) -> Markup:
        commit = commits[index]
        title = f"{_day(commit.date)} {commit.subject}"
        address = project["commit_url"]
        if not address.startswith(("https://", "http://")):
            return Markup('<code title="{}">{}</code>').format(title, commit.hash[:8])
        return Markup('<a href="{}{}" title="{}"><code>{}</code></a>').format(
            address, commit.hash, title, commit.hash[:8]
        )

    def name_of(row: Standing) -> str:
        return f"{row.model} {row.metric.label} · {row.column}".removesuffix(" · ")

    def changes_address(change: Change) -> str:
        new, old = commits[change.commit].hash, commits[change.previous].hash
        return f"#/changes?rev={new[:12]}&base={old[:12]}"

    def batch_address(batch: Batch) -> str:
        new, old = commits[batch.commit].hash, commits[batch.previous].hash
        machine = quote(batch.machine.encode("utf-8", "replace"), safe="")
        return f"#/changes?rev={new[:12]}&base={old[:12]}&m={machine}&sig=1"

    def extremes(changes: Sequence[Change]) -> str:
        ratios = sorted(one.ratio for one in changes if one.ratio is not None)
        ends = [quantities.change(ratio) for ratio in (ratios[:1] + ratios[-1:])]
        return " … ".join(dict.fromkeys(ends))

    newest = max((one[-1] for one in standings.measured.values() if one), default=None)

    def is_news(change: Change) -> bool:
        return newest is not None and newest - change.commit < RULES["news"]

    found = places(standings)

    page = templates.get_template("index.html").render(
        policy=POLICY,
        standings=standings,
        places=found,
        commits=commits,
        newest=newest,
        is_news=is_news,
        headline=[
            mean
            for mean in standings.means
            if mean.metric.unit == "seconds"
            and (mean.machine, mean.environment) == (found[0].machine.name, found[0].environment)
        ],
        short=short,
        commit_link=commit_link,
        name_of=name_of,
        changes_address=changes_address,
        batch_address=batch_address,
        extremes=extremes,
        environment_id=names.environment_id,
        environment_label=names.environment_label,
        changes=standings.changes[:LATEST],
        batches=batches(standings, standings.changes)[:LATEST_BATCHES],
        lately=_lately(standings),
        attention=[
            row for row in standings.rows if row.status in {"failed", "timed out", "stale"}
        ],
        noise=machine_noise(standings.history),
        left_out=standings.history.left_out,
        generated=generated,
        project=project,
        figures=figures,
    )
    return page.encode("utf-8", "replace")


def _timeline_address(row: Standing) -> str:
    machine, environment = row.series.machine, names.environment_id(row.environment)
    parts = {"s": row.series.case.name, "m": machine, "e": environment}
    return "#/timeline?" + "&".join(
        f"{key}={quote(value.encode('utf-8', 'replace'), safe='')}" for key, value in parts.items()
    )


def _class(status: str) -> str:
    return {"never run": "never", "timed out": "timed-out"}.get(status, status)


def _mark(row: Standing) -> str:
    labels = row.series.case.labels
    return mark(labels.get("device", ""), labels.get("pass", ""))


def _day(seconds: int) -> str:
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).strftime("%Y-%m-%d")


def _moment(seconds: int) -> str:
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")


def _instant(seconds: int) -> str:
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _faster(ratio: float) -> str:
    """A ratio of times, new / old, in words that need no key: ``1.03× faster``."""
    if abs(ratio - 1) < 0.005:
        return "unchanged"
    word = "faster" if ratio <= 1 else "slower"
    return f"{quantities.digits(max(ratio, 1 / ratio))}\N{MULTIPLICATION SIGN} {word}"


def _lately(standings: Standings) -> dict[str, Any]:
    """What the overview says in words of the newest measured commits."""
    span, changes = recent_changes(standings)
    times = speeds(standings.rows, changes)
    slower = tuple(change for change in times if change.verdict == "worse")
    return {
        "span": span,
        "worse": sum(change.verdict == "worse" for change in changes),
        "better": sum(change.verdict == "better" for change in changes),
        "slower": slower,
        "faster": tuple(change for change in times if change.verdict == "better"),
        "worst": largest(slower) if slower else None,
    }
