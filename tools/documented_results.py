"""``python -m tools.documented_results``: writes the numbers of pages from the stored results.

A page holds markers, which Markdown does not show, around what is written between them::

    <!-- change: torch 2.8.0 on ci-2core: plain.PlainModels.time_forward('lenet5', 'cpu') -->
    −10.4 % (−11.5 to −9.3 %)
    <!-- end -->

``change`` gives one change with its 99 % interval, from all comparisons of the two releases.
``changes: torch on ci-2core: 5 % on 2 days: time_`` gives a table of those of the cases that
changed by at least so much, as at least so many days show by themselves.
``against: torch 2.15.0, 2.6.0 on ci-2core, ci-2core-xeon: time_forward`` gives a table of the
first machine's cases, by their ratios from the second release to the first, on each machine.
``releases: torch on ci-2core`` says how many releases were compared, and which.
``causes: torch`` gives the notes on releases in ``results/notes.toml``.
``printed: COMMAND`` gives what a command prints; ``printed 5: COMMAND`` its first five lines.
"""

import contextlib
import functools
import io
import re
import shlex
import tomllib
from collections.abc import Callable
from pathlib import Path

from asv_watch.asv.settings import read_configuration
from asv_watch.cli.main import main
from asv_watch.judge.graph import machine_graphs
from asv_watch.judge.release_history import ReleaseHistory, release_histories

ROOT = Path(__file__).resolve().parent.parent
_MARKED = re.compile(
    r"(?P<begin><!-- (?P<what>\w+)(?: (?P<count>\d+))?: (?P<rest>[^>]+?) -->).*?<!-- end -->", re.S
)


@functools.cache
def _printed(command: str) -> str:
    output = io.StringIO()
    with contextlib.chdir(ROOT), contextlib.redirect_stdout(output):
        main(shlex.split(command)[1:])
    return output.getvalue()


@functools.cache
def _history(requirement: str, machine: str) -> ReleaseHistory:
    graphs = machine_graphs(read_configuration(ROOT).results, machine)
    for history in release_histories({machine: graphs}):
        if history.requirement == requirement:
            return history
    raise ValueError(f"no releases of {requirement} were compared on {machine}")


def _change(requirement: str, release: str, machine: str, case: str) -> str:
    for step in _history(requirement, machine).steps:
        for finding in step.findings:
            if (step.after, finding.case) == (release, case):
                return str(finding)
    raise ValueError(f"no change of {case} was measured in {requirement} {release} on {machine}")


def _changes(requirement: str, machine: str, least: str, days: str, pattern: str) -> str:
    rows = [
        f"| {step.after} | `{finding.case}` | {finding} |"
        for step in _history(requirement, machine).steps
        for finding in step.findings
        if re.search(pattern, finding.case)
        and finding.days_showing >= int(days)
        and abs(finding.ratio - 1) >= int(least) / 100
    ]
    head = ["| release | case | change (99 % interval) |", "|---|---|---|"]
    return "\n" + "\n".join([*head, *rows]) + "\n"


def _against(requirement: str, after: str, before: str, listed: str, pattern: str) -> str:
    machines = listed.split(", ")
    histories = [_history(requirement, machine) for machine in machines]
    rows = [["case", *machines], ["---"] * (len(machines) + 1)]
    for case in filter(re.compile(pattern).search, histories[0].graphs.releases(requirement)):
        ratios = [history.ratio(case, before, after) for history in histories]
        rows.append([f"`{case}`", *(str(ratio) if ratio else "" for ratio in ratios)])
    return "\n" + "".join(f"| {' | '.join(cells)} |\n" for cells in rows)


def _releases(requirement: str, machine: str) -> str:
    releases = _history(requirement, machine).releases
    return f"{len(releases)} {requirement} releases, {releases[0]} to {releases[-1]}"


def _causes(requirement: str) -> str:
    notes = tomllib.loads((ROOT / "results" / "notes.toml").read_text(encoding="utf-8"))["release"]
    texts = [
        f"**{note['release']}: {note['title']}.** {note['text'].strip()}"
        for note in notes
        if note["requirement"] == requirement
    ]
    return "\n" + "\n\n".join(texts) + "\n"


_WRITERS: dict[str, tuple[str, Callable[..., str]]] = {
    "change": (r"(\S+) (\S+) on (\S+): (.+)", _change),
    "changes": (r"(\S+) on (\S+): (\d+) % on (\d) days?: (.+)", _changes),
    "against": (r"(\S+) (\S+), (\S+) on ([^:]+): (.+)", _against),
    "releases": (r"(\S+) on (\S+)", _releases),
    "causes": (r"(\S+)", _causes),
}
"""By the first word of a marker: the form of the rest, and what writes its content from that."""


def _content(marked: re.Match[str]) -> str:
    if marked["what"] == "printed":
        lines = _printed(marked["rest"]).rstrip().splitlines()
        most = int(marked["count"] or len(lines))
        shown = [*lines[:most], "..."] if len(lines) > most else lines
        return "\n".join(["\n```text", *shown, "```\n"])
    if marked["what"] not in _WRITERS:
        raise ValueError(f"{marked['begin']} is not a known marker")
    form, write = _WRITERS[marked["what"]]
    if (arguments := re.fullmatch(form, marked["rest"])) is None:
        raise ValueError(f"{marked['begin']} is not of the form {form!r}")
    return write(*arguments.groups())


def written(page: str) -> str:
    """Return a page with the text between its markers written from today's results.

    Raises:
        ValueError: A marker is wrong, or names a change that was not measured.
    """
    return _MARKED.sub(lambda marked: f"{marked['begin']}{_content(marked)}<!-- end -->", page)


def marked_pages() -> list[Path]:
    """Return the pages with markers."""
    folders = (ROOT / "docs", ROOT / "packages/asv-watch/docs")
    pages = [ROOT / "README.md"]
    for folder in folders:
        pages += sorted(folder.rglob("*.md"))
    return [path for path in pages if "<!-- end -->" in path.read_text(encoding="utf-8")]


if __name__ == "__main__":
    for path in marked_pages():
        path.write_text(written(path.read_text(encoding="utf-8")), encoding="utf-8")
        print(f"results written to {path.relative_to(ROOT)}")
