"""The page: what it says without JavaScript, and the empty views that the script fills."""

from __future__ import annotations

from functools import cache, partial
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from asv_watch import quantities
from asv_watch.judge.causes import in_words
from asv_watch.site.case_table import CaseTable, title
from asv_watch.site.change_data import size
from asv_watch.site.contents import Contents
from asv_watch.statistics.rule import MINIMUM_EFFECT

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; "
    "base-uri 'none'; form-action 'none'"
)
"""Content-security policy of the page: nothing inline, nothing from elsewhere. Pictures that a
reader saves are drawn from a blob of the page itself."""

MOST_VALUES = 4_000
"""Newest values that are listed without JavaScript."""

VIEWS = (
    ("overview", "Overview"),
    ("changes", "Changes"),
    ("timeline", "Timeline"),
    ("compare", "Compare"),
    ("releases", "Releases"),
    ("about", "About the data"),
    ("case", "Case"),
)
"""Name in the address, and title; a page of a case has no link in the header."""


def render_page(
    contents: Contents,
    table: CaseTable,
    *,
    generated: int,
    project: dict[str, str],
    headline: str,
) -> bytes:
    """Render ``index.html``."""
    measured = [row for row in contents.series if row.has_value]
    order = {setup.key: index for index, setup in enumerate(contents.setups)}
    measured.sort(
        key=lambda row: (
            order.get((row.series.machine, row.environment.name), len(order)),
            contents.metrics.index(row.metric),
            table.index_of[row.series.case.name],
        )
    )
    titles = {
        case.name: title(table.rows[case.row], table.columns[case.column], contents.layout)
        for case in table.cases
    }
    page = render(
        "index.html",
        policy=POLICY,
        views=VIEWS,
        headline=headline,
        values=measured[:MOST_VALUES],
        unlisted=max(0, len(measured) - MOST_VALUES),
        titles=titles,
        commits=contents.history.commits,
        layout=contents.layout,
        minimum_effect=MINIMUM_EFFECT,
        has_releases=bool(contents.findings.release_histories),
        generated=generated,
        project=project,
    )
    return page.encode("utf-8", "replace")


def render(template: str, **context: Any) -> str:
    """Render a template of the folder ``templates``; all that it shows is escaped."""
    return _templates().get_template(template).render(**context)


@cache
def _templates() -> Environment:
    templates = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters.update(
        quantity=quantities.quantity,
        instant=quantities.timestamp,
        moment=partial(quantities.timestamp, pattern="%Y-%m-%d %H:%M UTC"),
        size=size,
        in_words=in_words,
    )
    return templates
