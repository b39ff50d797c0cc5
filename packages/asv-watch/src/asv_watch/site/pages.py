"""The page without JavaScript, the Atom feed (RFC 4287) and the badge, all from templates.

The feed has an entry for each measured change, under an id that never changes.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from asv_watch.asv.publish_hook import Project
from asv_watch.site.case_table import CaseTable
from asv_watch.site.change_data import cause, change_id, recent_changes, size
from asv_watch.site.contents import Contents
from asv_watch.site.front_page import FrontPage
from asv_watch.statistics.rule import MINIMUM_EFFECT
from asv_watch.text import quantities

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'none'"
)
"""Content-security policy of the page: nothing inline, nothing from elsewhere."""

MOST_VALUES = 500
"""Most newest values that are listed without JavaScript."""

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
    project: Project,
    front: FrontPage,
    about: Mapping[str, Any],
    sentences: Sequence[str],
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
    page = render(
        "index.html",
        policy=POLICY,
        views=VIEWS,
        overview=front.overview,
        grid=front.grid,
        speeds=front.speeds,
        subject=contents.layout.rows or "benchmark",
        values=measured[:MOST_VALUES],
        unlisted=max(0, len(measured) - MOST_VALUES),
        table=table,
        commits=contents.history.commits,
        about=about,
        sentences=sentences,
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
        optimized=False,  # each template is rendered once
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters.update(
        quantity=quantities.quantity,
        counted=quantities.counted,
        day=quantities.day,
        instant=quantities.timestamp,
        moment=partial(quantities.timestamp, pattern="%Y-%m-%d %H:%M UTC"),
        size=size,
        cause=cause,
    )
    return templates


ENTRIES = 100
"""Most changes in the feed, the newest ones."""

NOT_XML = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""Characters that XML 1.0 cannot contain, not even as references."""

# White on these has a contrast of at least 4.5 : 1, and the words say the same.
_GREY, _BLUE, _ORANGE = "#57606a", "#0550ae", "#a04100"
_LETTER = 6.6  # pixels of an average letter at 11 px


def write_feed(contents: Contents, table: CaseTable, project: Project) -> bytes:
    """Render the feed; it depends on the changes alone, not on when it is written.

    Without an address of the site, links are relative to the feed's own address.
    """
    commits = contents.history.commits
    shown = [change for change in contents.findings.changes if change.is_measured][:ENTRIES]
    text = render(
        "feed.xml",
        urn=f"urn:asv-watch:{quote(project.name, safe='')}",
        project=project,
        updated=max((commits[change.commit].date for change in shown), default=0),
        changes=[(change, change_id(contents, change)) for change in shown],
        contents=contents,
        table=table,
        commits=commits,
    )
    return NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text).encode()


def write_badge(contents: Contents) -> bytes:
    """Render ``badge.svg``: the measured changes of the newest commits, counted."""
    recent = recent_changes(contents)
    counts = Counter[str](change.verdict for change in recent.changes if change.is_measured)
    text = ", ".join(f"{counts[word]} {word}" for word in ("worse", "better") if counts[word])
    colour = _ORANGE if counts["worse"] else _BLUE
    if not counts:
        unknown = "not compared" if contents.setups else "not measured"
        text, colour = "no change" if recent.compared else unknown, _GREY
    width = round(len(text) * _LETTER) + 12
    return render("badge.svg", left=42, right=width, text=text, colour=colour).encode()
