"""The page, rendered so that its numbers read without JavaScript."""

from __future__ import annotations

from collections.abc import Sequence

from asv_watch.judge.changes import Change
from asv_watch.site import names
from asv_watch.site.answers import Answers
from asv_watch.site.commit_changes import by_commit
from asv_watch.site.contents import Contents
from asv_watch.site.index import RULES, log_command
from asv_watch.site.matrix import matrices
from asv_watch.site.regressions import Regression
from asv_watch.site.release_charts import release_charts
from asv_watch.site.rendering import render
from asv_watch.statistics.rule import MINIMUM_EFFECT

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'none'"
)
"""Content-security policy of the page: nothing inline, nothing from elsewhere."""

LATEST = 50
"""Changes listed without JavaScript."""
LATEST_COMMITS = 8
"""Lines of the overview's list of changes."""


def render_page(
    contents: Contents,
    answers: Answers,
    *,
    generated: int,
    project: dict[str, str],
    regressions: Sequence[Regression],
) -> bytes:
    """Render ``index.html``."""
    commits, setups = contents.history.commits, contents.setups
    newest = max((setup.newest for setup in setups), default=None)

    def range_command(change: Change) -> str:
        return log_command(contents, commits[change.previous].hash, commits[change.commit].hash)

    page = render(
        "index.html",
        policy=POLICY,
        contents=contents,
        setups=[(setup, matrices(contents, setup)) for setup in setups],
        commits=commits,
        newest=newest,
        news_after=-1 if newest is None else newest - RULES["news"],
        range_command=range_command,
        environment_id=names.environment_id,
        environment_label=names.environment_labels(contents.history.environments.values()),
        environment_short=names.short_labels(contents.history.environments.values()),
        layout=contents.layout,
        changes=contents.changes[:LATEST],
        by_commit=by_commit(contents, contents.changes)[:LATEST_COMMITS],
        slowest=answers.slowest,
        recent=answers.recent,
        release=answers.release,
        release_views=answers.release_views,
        release_charts=release_charts,
        minimum_effect=MINIMUM_EFFECT,
        run=answers.run,
        oldest=min((setup.commits[0] for setup in setups), default=None),
        attention=[
            row for row in contents.series if row.status in {"failed", "timed out", "stale"}
        ],
        generated=generated,
        project=project,
        regressions=regressions,
    )
    return page.encode("utf-8", "replace")
