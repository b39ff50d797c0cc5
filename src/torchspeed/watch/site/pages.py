"""The page, rendered so that its numbers read without JavaScript."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment as Templates
from jinja2 import FileSystemLoader, StrictUndefined
from markupsafe import Markup

from torchspeed.watch.analysis.changes import Change
from torchspeed.watch.history.records import Case
from torchspeed.watch.site import names, quantities
from torchspeed.watch.site.answers import (
    NewestRelease,
    changes_lately,
    newest_release,
    newest_run,
    slowest_model,
)
from torchspeed.watch.site.commit_changes import CommitChanges, by_commit, certainty
from torchspeed.watch.site.contents import Contents, SeriesSummary
from torchspeed.watch.site.failures import exception_line
from torchspeed.watch.site.index import RULES, log_command
from torchspeed.watch.site.matrix import mark, matrices
from torchspeed.watch.site.quantities import timestamp
from torchspeed.watch.site.regressions import Regression
from torchspeed.watch.site.sparkline import sparkline

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'none'"
)
"""Content-security policy of the page: nothing inline, nothing from elsewhere."""

LATEST = 50
"""Changes listed without JavaScript."""
_CLASSES = {"never run": "never", "timed out": "timed-out"}
"""CSS classes of outcomes that are two words."""
LATEST_COMMITS = 8
"""Lines of the overview's list of changes."""


def render_page(
    contents: Contents,
    *,
    generated: int,
    project: dict[str, str],
    figures: Sequence[dict[str, Any]],
    regressions: Sequence[Regression],
) -> bytes:
    """Render ``index.html``."""
    environment_label = names.environment_labels(contents.history.environments.values())
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
        moment=partial(timestamp, pattern="%Y-%m-%d %H:%M UTC"),
        instant=timestamp,
        event_text=partial(names.event_text, labels=environment_label),
        faster=_faster,
        address=_address,
        css=lambda status: _CLASSES.get(status, status),
        share=lambda value: f"{quantities.digits(value * 100, 2)}%",
        model_name=lambda row: " ".join([row.model, *names.settings(row.labels)]),
        case_name=_case_name,
        certainty=certainty,
        exception_line=exception_line,
        mark=lambda row: mark(row.labels.get("device", ""), row.labels.get("pass", "")),
        sparkline=sparkline,
    )
    commits = contents.history.commits

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

    def name_of(row: SeriesSummary) -> str:
        return f"{row.model} {row.metric.label} · {row.column}".removesuffix(" · ")

    def changes_address(change: Change | CommitChanges) -> str:
        new, old = commits[change.commit].hash, commits[change.previous].hash
        address = f"#/changes?rev={new[:12]}&base={old[:12]}"
        return (
            f"{address}&m={_quoted(change.machine)}&sig=1"
            if isinstance(change, CommitChanges)
            else address
        )

    def extremes(changes: Sequence[Change]) -> str:
        ratios = sorted(one.ratio for one in changes if one.ratio is not None)
        ends = [quantities.change(ratio) for ratio in (ratios[:1] + ratios[-1:])]
        return " … ".join(dict.fromkeys(ends))

    def release_address(release: NewestRelease) -> str:
        old = contents.history.environments[release.old_environment]
        parts = {
            "m": _quoted(release.setup.machine.name),
            "e": names.environment_id(release.setup.environment),
            "be": names.environment_id(old),
            "rev": commits[release.commit].hash[:12],
        }
        return "#/changes?" + "&".join(f"{key}={value}" for key, value in parts.items())

    def range_command(change: Change) -> str:
        return log_command(contents, commits[change.previous].hash, commits[change.commit].hash)

    newest = max((setup.newest for setup in contents.setups), default=None)

    def is_news(change: Change) -> bool:
        return newest is not None and newest - change.commit < RULES["news"]

    page = templates.get_template("index.html").render(
        policy=POLICY,
        contents=contents,
        setups=[(setup, matrices(contents, setup)) for setup in contents.setups],
        commits=commits,
        newest=newest,
        is_news=is_news,
        headline=[
            mean
            for mean in contents.means
            if mean.metric.label == "time" and mean.setup is contents.setups[0]
        ],
        short=short,
        commit_link=commit_link,
        name_of=name_of,
        changes_address=changes_address,
        extremes=extremes,
        range_command=range_command,
        environment_id=names.environment_id,
        environment_label=environment_label,
        changes=contents.changes[:LATEST],
        by_commit=by_commit(contents, contents.changes)[:LATEST_COMMITS],
        slowest=slowest_model(contents),
        recent=changes_lately(contents),
        release=newest_release(contents),
        run=newest_run(contents),
        release_address=release_address,
        oldest=min((setup.commits[0] for setup in contents.setups), default=None),
        attention=[
            row for row in contents.series if row.status in {"failed", "timed out", "stale"}
        ],
        generated=generated,
        project=project,
        figures=figures,
        regressions=regressions,
    )
    return page.encode("utf-8", "replace")


def _address(row: SeriesSummary, view: str) -> str:
    machine, environment = row.series.machine, names.environment_id(row.environment)
    parts = {"s": row.series.case.name, "m": machine, "e": environment}
    return f"#/{view}?" + "&".join(f"{key}={_quoted(value)}" for key, value in parts.items())


def _quoted(text: str) -> str:
    return quote(text.encode("utf-8", "replace"), safe="")


_day = partial(timestamp, pattern="%Y-%m-%d")


def _faster(ratio: float) -> str:
    """A ratio of times, new / old, in words that need no key: ``1.03× faster``."""
    if abs(ratio - 1) < 0.005:
        return "unchanged"
    word = "faster" if ratio <= 1 else "slower"
    return f"{quantities.digits(max(ratio, 1 / ratio))}\N{MULTIPLICATION SIGN} {word}"


def _case_name(case: Case) -> str:
    owner = case.benchmark.rpartition(".")[0].rpartition(".")[2]
    settings = [] if "model" in case.labels else [owner]
    settings += [
        value if key in {"model", "device", "pass"} else names.setting(key, value)
        for key, value in case.labels.items()
        if value and not (key == "metric" and value == "time")
    ]
    return " ".join(settings)
