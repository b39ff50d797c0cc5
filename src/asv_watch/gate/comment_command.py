"""Writes what the gate measured to a pull request, in a job that runs none of its code."""

from __future__ import annotations

import re
from pathlib import Path

from asv_watch.errors import WatchError
from asv_watch.gate.comment import comment, is_ours, sentence, stored_result
from asv_watch.gate.github import GitHub, PullRequest
from asv_watch.gate.result import read_result

CONTEXT = "torchspeed/gate"
"""Name of the status."""


def gate_comment(
    result_file: str, *, head: str, pull_request: int, label: str, author: str
) -> None:
    """Write the comment of a pull request, or update it, and set the status of its head.

    The file is not trusted: the pull request that it names has to be at the commit that GitHub
    says was measured.

    Args:
        result_file: what `asv-watch gate --json` wrote; the result in the comment that is there
            if empty, such as after a label was added.
        head: commit of which GitHub says that it was measured; needed with a file.
        pull_request: its number; needed without a file.
        label: label that accepts a slowdown, together with a line ``LABEL: reason`` in the
            description.
        author: who writes the comments.

    Raises:
        WatchError: the file is no result, it is of another commit, or GitHub refuses a call.
    """
    github = GitHub.from_environment()
    result = read_result(Path(result_file)) if result_file else None
    if result is not None:
        if not result.pull_request:
            raise WatchError(f"{result_file} names no pull request; use gate --pull-request")
        if result.head != head:
            raise WatchError(
                f"{result_file} is of commit {result.head}, but {head or 'no commit'} was "
                "measured; nothing was written"
            )
    pull = github.pull_request(result.pull_request if result else pull_request)
    ours = [old for old in github.comments(pull.number, author) if is_ours(old[1])]
    if result is None:
        result = stored_result(ours[-1][1]) if ours else None
    if result is None or result.head != pull.head:
        print(f"pull request {pull.number} is at {pull.head}, which was not measured")
        return
    accepted = accepted_because(pull, label)
    text = comment(result, accepted)
    if any(result.failing) and label in pull.labels and not accepted:
        text = (
            f"{text}\n\nThe label `{label}` needs a line `{label}: reason` in the description.\n"
        )
    if result.cases or ours:
        github.write_comment(pull.number, text, ours[-1][0] if ours else None)
    passes = result.passes(accepted)
    github.set_status(result.head, CONTEXT, passes=passes, description=sentence(result))
    print(f"pull request {pull.number}: {sentence(result)}")


def accepted_because(pull: PullRequest, label: str) -> str:
    """Read why a slowdown is accepted; empty where the label or the reason is missing."""
    line = re.search(rf"^\s*{re.escape(label)}:[ \t]*(\S.*?)\s*$", pull.description, re.M | re.I)
    return line[1] if line and label in pull.labels else ""
