"""The commands `publish` and `report`."""

import datetime
import os
import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from asv_watch.answers import Answer, Difference, JsonFile, word_of, write_answer
from asv_watch.asv.conf import load_settings
from asv_watch.asv.settings import read_configuration, read_project
from asv_watch.engine.workplace import check_checkout
from asv_watch.errors import ExitStatus, WatchError
from asv_watch.judge.changes import Change
from asv_watch.records.history import COMPARED_ELSEWHERE, History
from asv_watch.records.store import check_machine
from asv_watch.site.build import publish_site
from asv_watch.site.change_data import cause, commits_of
from asv_watch.site.contents import Contents, read_contents
from asv_watch.site.report import write_report
from asv_watch.statistics.rule import Verdict
from asv_watch.versions.git import find_commit, read_commits, run_git


def publish() -> None:
    """Build the site anew from all stored results, and print where it is.

    Raises:
        WatchError: it cannot be written, and the old site stays; or it lacks damaged results.
    """
    root = Path.cwd()
    configuration = read_project(load_settings(root), root)
    print("publishing", flush=True)
    publish_site(configuration, warn=lambda text: print(f"  {text}", flush=True))
    site = os.path.relpath(configuration.site, root)
    print(f"the site is in {site}/: open its index.html")


def report(
    *,
    markup: Annotated[
        Literal["markdown", "text"],
        typer.Option("--as", help="Markdown for an issue, or plain text for an e-mail."),
    ] = "markdown",
    state: Annotated[
        Literal["measured", "suspected", "all"], typer.Option(help="Which changes to print.")
    ] = "all",
    count: Annotated[
        int, typer.Option(min=1, help="Largest number of changes to print, newest first.")
    ] = 10,
    machine: Annotated[
        str, typer.Option(metavar="NAME", help="Only changes of this machine.")
    ] = "",
    since: Annotated[
        str,
        typer.Option(
            metavar="COMMIT",
            help="Only changes by commits that this one does not contain, such as that of the "
            "last report, HEAD~20 or a tag; or by those since a date.",
        ),
    ] = "",
    json_file: JsonFile = "",
) -> ExitStatus:
    """Print changes, those of the newest commits first, and name damaged results.

    Raises:
        WatchError: there is no checkout, nothing was ever measured, or a name is unknown.
    """
    root = Path.cwd()
    check_checkout(root)
    configuration = read_configuration(root)
    check_machine(configuration.results, machine)
    commits = read_commits(configuration.repository, configuration.branch)
    contents = read_contents(configuration, commits)
    history = contents.history
    earlier = _commits_before(history, configuration.repository, since)
    changes = [
        change
        for change in contents.findings.changes
        if history.commits[change.commit].hash not in earlier
        and state in {"all", change.state}
        and machine in {"", history.series[change.series].machine}
    ][:count]
    print(write_report(contents, changes, markup) or "no change to report")
    reported = [_difference(change, contents) for change in changes]
    write_answer(Answer(command="report", differences=reported), json_file)
    gone = sum(entry.reason == COMPARED_ELSEWHERE for entry in history.left_out)
    if gone:
        print(
            f"left out: comparisons of commits that are not on {configuration.branch} ({gone}); "
            "`asv-watch results check` names those that no branch contains",
            file=sys.stderr,
        )
    for problem in history.problems:
        print(f"left out: {problem.path}: {problem.message}", file=sys.stderr)
    return ExitStatus.SOME_CASES_FAILED if history.problems else ExitStatus.DONE


def _commits_before(history: History, repository: Path, since: str) -> frozenset[str]:
    """Return the hashes of the commits up to a commit, or before a date; none if empty."""
    if not since:
        return frozenset()
    if commit := find_commit(repository, since):
        return frozenset(run_git(repository, "rev-list", commit).split())
    try:
        begun = datetime.date.fromisoformat(since)
    except ValueError:
        raise WatchError(
            f"--since {since!r} is neither a commit, tag or branch of {repository} nor a date, "
            "such as 2026-11-26"
        ) from None
    seconds = datetime.datetime.combine(begun, datetime.time(), datetime.UTC).timestamp()
    return frozenset(commit.hash for commit in history.commits if commit.date < seconds)


def _difference(change: Change, contents: Contents) -> Difference:
    series = contents.history.series[change.series]
    before, after = change.values
    note = change.note
    return Difference(
        case=series.case.name,
        verdict=word_of(change.verdict, change.kind),
        measured=change.is_measured,
        unit=series.unit,
        before=before,
        after=after,
        ratio=change.ratio,
        interval=change.compared.interval if change.compared else None,
        clock=change.compared.clock if change.compared else "",
        worse=change.verdict is Verdict.WORSE,
        machine=series.machine,
        commits=list(commits_of(change, contents)[2]),
        expected=note.in_words if note and note.kind == "expected" else "",
        reason=cause(change, contents),
    )
