"""Builds the site of a project from its stored results.

The page without JavaScript, the Atom feed (RFC 4287) and the badge come from templates. The feed
has an entry for each measured change, under an id that never changes.
"""

import os
import re
import shutil
import time
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from asv_watch.asv.settings import Configuration, Project
from asv_watch.errors import WatchError
from asv_watch.site.about_data import about_data
from asv_watch.site.change_data import cause, change_id, recent_changes, size
from asv_watch.site.contents import Contents, read_contents
from asv_watch.site.data_files import release_pairs, write_benchmarks
from asv_watch.site.front_page import front_page
from asv_watch.site.index import index_data
from asv_watch.site.release_data import release_data
from asv_watch.site.scripts import bundle, stylesheet, write_script
from asv_watch.site.series import SeriesSummary
from asv_watch.site.speeds import PublishedValue, read_published, speed_table
from asv_watch.site.swap import swapped_in
from asv_watch.statistics.rule import MINIMUM_EFFECT
from asv_watch.text import quantities
from asv_watch.text.terminal import printable
from asv_watch.versions.git import read_commits

STATIC = Path(__file__).parent / "static"

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

ENTRIES = 100
"""Most changes in the feed, the newest ones."""

NOT_XML = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""Characters that XML 1.0 cannot contain, not even as references."""

# White on these has a contrast of at least 4.5 : 1, and the words say the same.
_GREY, _BLUE, _ORANGE = "#57606a", "#0550ae", "#a04100"
_LETTER = 6.6  # pixels of an average letter at 11 px


def publish_site(
    configuration: Configuration,
    shown: Collection[str] | None = None,
    *,
    warn: Callable[[str], None],
    inform: Callable[[str], None] = lambda text: None,
) -> None:
    """Publish the site of a project from its stored results.

    ``shown`` has the hashes of the commits to show; all of the branch are shown if it is ``None``.
    ``warn`` is told of each line of the record that was left out, and ``inform`` where the site is
    and what it leaves out.

    Raises:
        WatchError: the site cannot be written, and the old one stays; or it lacks damaged results.
    """
    declared, results = configuration.declared, configuration.results
    if results.is_relative_to(Path.cwd()):  # the page names files, but no folder of this machine
        configuration = replace(configuration, results=results.relative_to(Path.cwd()))
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")  # for reproducible builds
    commits = read_commits(configuration.repository, configuration.branch)
    if shown is not None:
        commits = tuple(commit for commit in commits if commit.hash in shown)
    with swapped_in(configuration.site) as fresh:
        contents = read_contents(configuration, commits)
        build_site(
            fresh,
            contents,
            generated=int(epoch) if epoch.isdigit() else int(time.time()),
            project=configuration.project,
            published=read_published(declared.published_values),
            about=(*declared.about, *declared.gate_exceptions()),
        )
    history = contents.history
    inform(f"The site is in {configuration.site}: open its index.html")
    for reason, count in Counter(left_out.reason for left_out in history.left_out).items():
        inform(f"Left out, as About the data lists: {reason} ({count})")
    # Without a line, or a file of lines, reasons or comparisons are missing, but no results.
    damaged = [problem for problem in history.problems if not problem.path.endswith(".jsonl")]
    for problem in history.problems:
        if problem not in damaged[:1]:
            warn(printable(f"left out of the site: {problem.path}: {problem.message}"))
    if damaged:
        others = f" and {len(damaged) - 1} more" if len(damaged) > 1 else ""
        raise WatchError(
            f"the site was published without {damaged[0].path} ({damaged[0].message}){others}; "
            "correct or remove it (`git checkout` brings a tracked file back), then publish again"
        )


def build_site(
    folder: Path,
    contents: Contents,
    *,
    generated: int,
    project: Project,
    published: Sequence[PublishedValue] = (),
    about: Sequence[str] = (),
) -> None:
    """Write a whole site into a folder.

    ``generated`` is the time of publishing, seconds since the epoch: the only difference between
    two builds of the same history.
    """
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(STATIC / "favicon.svg", folder / "favicon.svg")
    (folder / "site.css").write_text(stylesheet(STATIC / "style"), encoding="utf-8")
    script = bundle(STATIC / "script" / "main.js")
    (folder / "site.js").write_text(script, encoding="utf-8")
    overview, grid = front_page(contents)
    index = index_data(contents, overview, project, generated)
    (folder / "index.json").write_bytes(write_script(folder, "index", index) + b"\n")
    write_script(folder, "releases", release_data(contents))
    write_script(folder, "release-pairs", release_pairs(contents))
    write_benchmarks(folder, contents)
    (folder / "feed.xml").write_bytes(_feed(contents, project))
    (folder / "badge.svg").write_bytes(_badge(contents))
    values = _newest_values(contents)
    page = _render(
        "index.html",
        policy=POLICY,
        views=VIEWS,
        index=index,
        grid=grid,
        speeds=speed_table(contents, published),
        values=values[:MOST_VALUES],
        unlisted=max(0, len(values) - MOST_VALUES),
        cases=contents.cases,
        commits=contents.history.commits,
        about=about_data(contents),
        sentences=about,
        minimum_effect=MINIMUM_EFFECT,
        has_releases=bool(contents.findings.release_histories),
    )
    (folder / "index.html").write_bytes(page.encode("utf-8", "replace"))


def _newest_values(contents: Contents) -> list[SeriesSummary]:
    """Return the series with a value, by setup, metric and case."""
    order = {setup.key: index for index, setup in enumerate(contents.setups)}
    return sorted(
        (row for row in contents.series if row.last),
        key=lambda row: (
            order[row.setup],
            contents.metrics.index(row.metric),
            contents.cases.index_of[row.case],
        ),
    )


def _render(template: str, **context: Any) -> str:
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


def _feed(contents: Contents, project: Project) -> bytes:
    """Render the feed; it depends on the changes alone, not on when it is written.

    Without an address of the site, links are relative to the feed's own address.
    """
    commits = contents.history.commits
    shown = [change for change in contents.findings.changes if change.is_measured][:ENTRIES]
    text = _render(
        "feed.xml",
        urn=f"urn:asv-watch:{quote(project.name, safe='')}",
        project=project,
        updated=max((commits[change.commit].date for change in shown), default=0),
        changes=[(change, change_id(contents, change)) for change in shown],
        contents=contents,
        commits=commits,
    )
    return NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text).encode()


def _badge(contents: Contents) -> bytes:
    """Render ``badge.svg``: the measured changes of the newest commits, counted."""
    recent = recent_changes(contents)
    counts = Counter(change.verdict.value for change in recent.changes if change.is_measured)
    text = ", ".join(f"{counts[word]} {word}" for word in ("worse", "better") if counts[word])
    colour = _ORANGE if counts["worse"] else _BLUE
    if not counts:
        unknown = "not compared" if contents.setups else "not measured"
        text, colour = "no change" if recent.compared else unknown, _GREY
    width = round(len(text) * _LETTER) + 12
    return _render("badge.svg", left=42, right=width, text=text, colour=colour).encode()
