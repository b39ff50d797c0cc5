"""Keeps one issue on GitHub for each measured slowdown, with GitHub's own program ``gh``.

An issue belongs to a case on a machine, which its last line names. It is opened once, rewritten
when more is known about the slowdown, and closed when the slowdown is gone. One that a person
closed stays closed until another commit makes the case slower.
"""

from __future__ import annotations

import math
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from asv_watch.answers import Answer, Difference
from asv_watch.errors import WatchError
from asv_watch.files import read_regular
from asv_watch.records.comparisons import ratio_kind
from asv_watch.statistics.ratio import CONFIDENCE
from asv_watch.text import quantities
from asv_watch.text.markdown import code

LABEL = "asv-watch"
"""Issues with another label are never touched."""
_MARK = re.compile(r"<!-- asv-watch slowdown (\{.*\}) -->")
_TIMEOUT_S = 120.0
"""Seconds that a call of gh may take; one lists or opens an issue."""
_MOST = 1000
"""Largest number of issues that are read."""
_GREATER = "\\u003e"
"""A ``>`` escaped for JSON, so that no text can end the HTML comment around the mark."""
_LEFT = 0.5
"""A slowdown is gone once later changes of its case took back more than this share of it."""


class _Key(msgspec.Struct, frozen=True):
    """The case and the machine of a slowdown."""

    case: str
    machine: str


class _Mark(msgspec.Struct, frozen=True):
    """The last line of an issue."""

    slowdown: _Key
    commits: tuple[str, ...]
    """Commits that might have caused the slowdown when the issue was written."""


class Issue(msgspec.Struct, frozen=True):
    """An issue, as ``gh issue list --json number,title,body,state`` prints it."""

    number: int
    title: str
    body: str
    state: str

    @property
    def is_open(self) -> bool:
        """Whether it is open."""
        return self.state == "OPEN"

    @property
    def mark(self) -> _Mark | None:
        """The slowdown that it reports; ``None`` if its last line cannot be read."""
        match = _MARK.fullmatch(self.body.rstrip().rpartition("\n")[2].strip())
        try:
            return msgspec.json.decode(match[1], type=_Mark) if match else None
        except msgspec.MsgspecError:
            return None


@dataclass(frozen=True, slots=True)
class Call:
    """A call of ``gh issue``."""

    description: str
    """For people: ``open: s.time_a is slower``."""
    arguments: tuple[str, ...]


def issues(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="File that `asv-watch report --json` wrote.")
    ],
    *,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what would be done, and do nothing.")
    ] = False,
) -> None:
    """Open an issue for each measured slowdown, update it, and close it when it is gone.

    A slowdown that results/notes.toml calls expected has no issue.

    Raises:
        WatchError: the file is not a report, or ``gh`` is missing or fails.
    """
    fields = "--json=number,title,body,state"
    known = _gh("issue", "list", f"--label={LABEL}", "--state=all", f"--limit={_MOST}", fields)
    calls = plan(_read_report(Path(file)), msgspec.json.decode(known, type=list[Issue]))
    if not dry_run and any("create" in call.arguments for call in calls):
        _gh("label", "create", LABEL, "--force", "--description=Opened by asv-watch")
    for call in calls:
        print(call.description, flush=True)
        if not dry_run:
            _gh("issue", *call.arguments)
    if not calls:
        print("no issue to open, update or close")


def plan(changes: Sequence[Difference], known: Sequence[Issue]) -> list[Call]:
    """Return the calls that make the open issues match the slowdowns.

    Args:
        changes: all changes of a report, the newest first.
        known: issues with the label, open and closed.
    """
    standing = _standing(changes)
    marks = [(issue, issue.mark) for issue in known]
    calls = []
    for key, slowdown in standing.items():
        title, body = _title(slowdown), _body(slowdown)
        texts = f"--title={title}", f"--body={body}"
        own = [(issue, mark) for issue, mark in marks if mark and mark.slowdown == key]
        is_known = any(set(slowdown.commits) & set(mark.commits) for _, mark in own)
        opened = [issue for issue, _ in own if issue.is_open]
        if not opened and not is_known:
            calls.append(Call(f"open: {title}", ("create", f"--label={LABEL}", *texts)))
        calls += [
            Call(f"update #{issue.number}: {title}", ("edit", str(issue.number), *texts))
            for issue in opened
            if (issue.title, issue.body.strip()) != (title, body)
        ]
    for issue, mark in marks:
        if issue.is_open and mark and mark.slowdown not in standing:
            comment = f"--comment={_why_closed(mark, changes)}"
            arguments = "close", str(issue.number), comment
            calls.append(Call(f"close #{issue.number}: {issue.title}", arguments))
    return calls


def _why_closed(mark: _Mark, changes: Sequence[Difference]) -> str:
    """Say why an open issue is closed: its slowdown is expected, or gone."""
    for change in changes:
        is_meant = mark.slowdown == _Key(change.case, change.machine) and change.expected
        if is_meant and set(change.commits) & set(mark.commits):
            return f"`results/notes.toml` says of this slowdown: {code(change.expected)}"
    return "The newest results do not show this slowdown any more."


def _standing(changes: Sequence[Difference]) -> dict[_Key, Difference]:
    """Return the newest slowdown of each case that later changes have not taken back.

    Slowdowns that a note calls expected are left out.
    """
    later: dict[_Key, float] = {}
    standing: dict[_Key, Difference] = {}
    for change in changes:
        key = _Key(change.case, change.machine)
        if not change.measured or change.ratio is None or key in standing:
            continue
        size = abs(math.log(change.ratio))
        is_left = later.get(key, 0.0) < _LEFT * size
        if change.worse and is_left and not change.expected:
            standing[key] = change
        later[key] = later.get(key, 0.0) + (-size if change.worse else size)
    return standing


def _title(change: Difference) -> str:
    size = quantities.change(change.ratio, ratio_kind(change.unit))
    return " ".join(f"{change.case} on {change.machine}: {change.verdict}, {size}".split())


def _body(change: Difference) -> str:
    kind = ratio_kind(change.unit)
    size = quantities.change(change.ratio, kind)
    if change.ratio is not None and change.interval is not None:
        size = quantities.measured(change.ratio, change.interval, kind, change.clock)
    facts = {
        "Case": code(change.case),
        "Machine": code(change.machine),
        "Change": f"{size}, {quantities.share(CONFIDENCE)} interval",
        "Candidate commits": ", ".join(change.commits),
        "Cause": code(change.reason) if change.reason else "",
    }
    lines = [f"- **{name}**: {text}" for name, text in facts.items() if text]
    mark = msgspec.json.encode(_Mark(_Key(change.case, change.machine), tuple(change.commits)))
    hidden = mark.decode().replace(">", _GREATER)
    return "\n".join([*lines, "", f"<!-- asv-watch slowdown {hidden} -->"])


def _read_report(path: Path) -> list[Difference]:
    try:
        answer = msgspec.json.decode(read_regular(path), type=Answer)
    except (OSError, ValueError) as error:  # msgspec's errors are ValueErrors
        raise WatchError(
            f"{path} is not a report ({error}); write it with "
            "`asv-watch report --count 1000 --json`"
        ) from error
    if answer.command != "report":
        raise WatchError(
            f"{path} is the answer of {answer.command!r}; give that of `asv-watch report`"
        )
    return answer.differences


def _gh(*arguments: str) -> str:
    """Run ``gh``; return what it prints."""
    program = shutil.which("gh")
    if program is None:
        raise WatchError("gh is not on the PATH; install it from https://cli.github.com")
    try:
        done = subprocess.run(
            [program, *arguments], capture_output=True, text=True, check=False, timeout=_TIMEOUT_S
        )
    except subprocess.TimeoutExpired as error:
        raise WatchError(
            f"gh {' '.join(arguments[:2])} took more than {_TIMEOUT_S:g} s; try again later"
        ) from error
    if done.returncode:
        reason = " ".join(done.stderr.split()) or f"status {done.returncode}"
        raise WatchError(f"gh {' '.join(arguments[:2])} failed: {reason}")
    return done.stdout
