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

from torchspeed.watch.analysis.changes import Change
from torchspeed.watch.history.records import Case
from torchspeed.watch.site import names, quantities
from torchspeed.watch.site.answers import Releases, answers
from torchspeed.watch.site.data_files import RULES
from torchspeed.watch.site.failures import exception_line
from torchspeed.watch.site.latest import Batch, batches
from torchspeed.watch.site.matrix import mark, places
from torchspeed.watch.site.regressions import Regression
from torchspeed.watch.site.sparkline import sparkline
from torchspeed.watch.site.standing import Standing, Standings

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
    regressions: Sequence[Regression],
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
        share=_share,
        model_name=_model_name,
        case_name=_case_name,
        exception_line=exception_line,
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
        return f"#/changes?rev={new[:12]}&base={old[:12]}&m={_quoted(batch.machine)}&sig=1"

    def extremes(changes: Sequence[Change]) -> str:
        ratios = sorted(one.ratio for one in changes if one.ratio is not None)
        ends = [quantities.change(ratio) for ratio in (ratios[:1] + ratios[-1:])]
        return " … ".join(dict.fromkeys(ends))

    def releases_address(one: Releases) -> str:
        parts = {
            "m": _quoted(one.new.machine.name),
            "e": names.environment_id(one.new.environment),
            "be": names.environment_id(one.old.environment),
            "rev": commits[one.commit].hash[:12],
        }
        return "#/changes?" + "&".join(f"{key}={value}" for key, value in parts.items())

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
            if mean.metric.label == "time"
            and (mean.machine, mean.environment) == (found[0].machine.name, found[0].environment)
        ],
        short=short,
        commit_link=commit_link,
        name_of=name_of,
        changes_address=changes_address,
        batch_address=batch_address,
        extremes=extremes,
        environment_id=names.environment_id,
        environment_label=names.environment_labels(standings.environments),
        changes=standings.changes[:LATEST],
        batches=batches(standings, standings.changes)[:LATEST_BATCHES],
        answers=answers(standings, found),
        releases_address=releases_address,
        oldest=min((one[0] for one in standings.measured.values() if one), default=None),
        newest_run_at=_newest_run_at(standings),
        attention=[
            row for row in standings.rows if row.status in {"failed", "timed out", "stale"}
        ],
        noise=standings.machine_noise,
        left_out=standings.history.left_out,
        generated=generated,
        project=project,
        figures=figures,
        regressions=regressions,
    )
    return page.encode("utf-8", "replace")


def _timeline_address(row: Standing) -> str:
    machine, environment = row.series.machine, names.environment_id(row.environment)
    parts = {"s": row.series.case.name, "m": machine, "e": environment}
    return "#/timeline?" + "&".join(f"{key}={_quoted(value)}" for key, value in parts.items())


def _quoted(text: str) -> str:
    return quote(text.encode("utf-8", "replace"), safe="")


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


def _share(value: float) -> str:
    return f"{quantities.digits(value * 100, 2)}%"


def _model_name(row: Standing) -> str:
    """``vgg19 batch 10``: the case without its device and pass."""
    labels = row.series.case.labels
    without = {"model", "device", "pass", "metric"}
    return " ".join(
        [row.model, *(names.setting(*one) for one in labels.items() if one[0] not in without)]
    )


def _case_name(case: Case) -> str:
    owner = case.benchmark.rpartition(".")[0].rpartition(".")[2]
    settings = [] if "model" in case.labels else [owner]
    settings += [
        value if key in {"model", "device", "pass"} else names.setting(key, value)
        for key, value in case.labels.items()
        if value and not (key == "metric" and value == "time")
    ]
    return " ".join(settings)


def _newest_run_at(standings: Standings) -> int | None:
    """When the newest run of any case was, seconds since the epoch, where that is known."""
    times = []
    for row in standings.rows:
        run = row.series.last
        started_at = run.point.started_at if run.point else None
        times += [when for when in (run.at, started_at) if when is not None]
    return max(times, default=None)
