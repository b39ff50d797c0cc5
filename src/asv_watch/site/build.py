"""Writes a whole site into an empty folder."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from asv_watch.site.about_data import about_data
from asv_watch.site.bundle import bundle, stylesheet
from asv_watch.site.case_files import write_case_files
from asv_watch.site.case_table import case_table, main_groups
from asv_watch.site.contents import Contents
from asv_watch.site.data_files import write_data_files
from asv_watch.site.feeds import write_badge, write_feed
from asv_watch.site.index import Json, index_data
from asv_watch.site.overview_data import overview_data
from asv_watch.site.pages import render_page
from asv_watch.site.release_data import release_data
from asv_watch.site.scripts import write_script

STATIC = Path(__file__).parent / "static"


def build_site(
    folder: Path,
    contents: Contents,
    *,
    generated: int,
    project: dict[str, str],
    published: Sequence[Json] = (),
    tables: Sequence[Json] = (),
) -> None:
    """Write a whole site into a folder.

    Args:
        folder: Where to; made if missing.
        contents: What to show.
        generated: When, seconds since the epoch: the one thing in the files
            that differs between two builds of the same history.
        project: `name`, `url`, `commit_url` (the front of a commit's address) and
            `site` (where the site is served, with a slash at its end); each address
            may be empty.
        published: Values from the literature, as ``docs/site-data.md`` lists them.
        tables: Tables of the project.
    """
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(STATIC / "favicon.svg", folder / "favicon.svg")
    (folder / "site.css").write_text(stylesheet(STATIC / "style"), encoding="utf-8")
    script = bundle(STATIC / "script" / "main.js")
    (folder / "site.js").write_text(script, encoding="utf-8")
    table, main = case_table(contents), main_groups(contents)
    overview = overview_data(contents, table, main)
    index = index_data(
        contents,
        table,
        generated=generated,
        project=project,
        published=published,
    )
    index |= {"overview": overview, "tables": tables}
    write_script(folder, "releases", release_data(contents, table, main))
    write_script(folder, "about", about_data(contents))
    write_data_files(folder, contents, index)
    write_case_files(folder, contents)
    feed = write_feed(contents, project=project["name"], site=project["site"])
    (folder / "feed.xml").write_bytes(feed)
    page = render_page(
        contents, table, generated=generated, project=project, headline=overview["headline"]
    )
    (folder / "index.html").write_bytes(page)
    (folder / "badge.svg").write_bytes(write_badge(contents))
