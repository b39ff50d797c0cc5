"""Builds the site of a project from its stored results."""

import os
import shutil
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from asv_watch.asv.publish_hook import Project, PublishRequest
from asv_watch.site.about_data import about_data
from asv_watch.site.case_table import case_table, main_groups
from asv_watch.site.contents import Contents, read_contents
from asv_watch.site.data_files import write_benchmarks
from asv_watch.site.front_page import front_page
from asv_watch.site.index import index_data
from asv_watch.site.pages import render_page, write_badge, write_feed
from asv_watch.site.pair_data import release_pairs
from asv_watch.site.release_data import release_data
from asv_watch.site.scripts import bundle, stylesheet, write_script
from asv_watch.site.speeds import PublishedValue, read_published
from asv_watch.site.swap import swapped_in
from asv_watch.text.terminal import printable
from asv_watch.versions.git import read_commits

STATIC = Path(__file__).parent / "static"


def publish_site(
    request: PublishRequest,
    *,
    warn: Callable[[str], None],
    inform: Callable[[str], None] = lambda text: None,
) -> str:
    """Publish the site of a project from its stored results.

    Args:
        request: what asv.conf.json and the command line say.
        warn: is told of each line of the record that was left out.
        inform: is told where the site is, and what it leaves out.

    Returns:
        Which results had to be left out because they are damaged; empty if none.

    Raises:
        WatchError: the site cannot be written; the old one stays.
    """
    configuration, declared = request.configuration, request.configuration.declared
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")  # for reproducible builds
    commits = read_commits(configuration.repository, configuration.branch)
    if request.hashes is not None:
        commits = tuple(commit for commit in commits if commit.hash in request.hashes)
    with swapped_in(configuration.site) as fresh:
        contents = read_contents(configuration, commits)
        build_site(
            fresh,
            contents,
            generated=int(epoch) if epoch.isdigit() else int(time.time()),
            project=request.project,
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
    if not damaged:
        return ""
    others = f" and {len(damaged) - 1} more" if len(damaged) > 1 else ""
    return (
        f"the site was published without {printable(damaged[0].path)} "
        f"({printable(damaged[0].message)}){others}; "
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
    table, main = case_table(contents), main_groups(contents)
    front = front_page(contents, table, main, published)
    index = index_data(contents, table, front.overview, project, generated)
    content = write_script(folder, "index", index)
    (folder / "index.json").write_bytes(content + b"\n")
    write_script(folder, "releases", release_data(contents, table, main))
    write_script(folder, "release-pairs", release_pairs(contents))
    write_benchmarks(folder, contents, table)
    (folder / "feed.xml").write_bytes(write_feed(contents, table, project))
    page = render_page(
        contents,
        table,
        generated=generated,
        project=project,
        front=front,
        about=about_data(contents),
        sentences=about,
    )
    (folder / "index.html").write_bytes(page)
    (folder / "badge.svg").write_bytes(write_badge(contents))
