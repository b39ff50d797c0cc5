"""Writes what the gate measured to a pull request, in a job that runs none of its code.

docs/pull-requests.md says which of its inputs are believed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from asv_watch.errors import WatchError
from asv_watch.gate.acceptance import note_entry
from asv_watch.gate.comment import Stored, comment, is_ours, read_stored, sentence
from asv_watch.gate.github import GitHub
from asv_watch.gate.result import parse_share, read_result
from asv_watch.options import Threshold, Undecided

CONTEXT = "asv-watch/gate"
"""Name of the status."""


def gate_comment(
    result_file: Annotated[
        str,
        typer.Argument(
            metavar="[FILE]",
            help="File that gate --json wrote; by default the result in the existing comment.",
        ),
    ] = "",
    *,
    head: Annotated[
        str,
        typer.Option(metavar="HASH", help="The head commit, as the workflow's event says."),
    ] = "",
    pull_request: Annotated[
        int,
        typer.Option(
            metavar="NUMBER", min=0, help="Number of the pull request, if FILE is not given."
        ),
    ] = 0,
    label: Annotated[
        str, typer.Option(metavar="LABEL", help="The label that accepts slower cases.")
    ] = "slower-accepted",
    labelled: Annotated[
        str, typer.Option(metavar="LABEL", help="The label that was just set, if one was.")
    ] = "",
    labelled_by: Annotated[str, typer.Option(metavar="LOGIN", help="Who set that label.")] = "",
    threshold: Threshold = "3%",
    undecided: Undecided = "fail",
) -> None:
    """Write the comment of a pull request, or update it, and set the status of its head.

    The file is not trusted: the pull request that it names has to be at the commit that GitHub
    says was measured. A label accepts the slowdown of the commit that was the head when it was
    set, if that was measured by then, and no other. It takes a line ``LABEL: reason`` in the
    description. Without a file, such as after a label was set, the result in the existing comment
    counts; the head is then the commit that the label was set for. The comment also contains the
    acceptance as an entry of ``results/notes.toml``, with its commit once the request is merged.

    Raises:
        WatchError: the file is not a result, belongs to another commit, or GitHub refuses a call.
    """
    share, github = parse_share(threshold), GitHub()
    result = read_result(Path(result_file)) if result_file else None
    if result is not None:
        if not result.pull_request:
            raise WatchError(f"{result_file} names no pull request; use gate --pull-request")
        if result.head != head:
            raise WatchError(
                f"{result_file} is about commit {result.head}, but {head or 'no commit'} was "
                "measured; nothing was written"
            )
    pull = github.pull_request(result.pull_request if result else pull_request)
    ours = [old for old in github.own_comments(pull.number) if is_ours(old[1])]
    stored = _read_last(ours)
    if result is None and stored is not None:
        result = stored.result
    if result is None or result.head != pull.head.sha:
        print(f"pull request {pull.number} is at {pull.head.sha}, which was not measured")
        return
    accepted, by = "", ""
    has_label = label in {known.name for known in pull.labels}
    if has_label and stored is not None and stored.result.head == result.head:
        is_set_now = labelled == label and head == result.head
        accepted = reason_in(pull.body or "", label) if is_set_now else stored.accepted
        by = labelled_by if is_set_now else stored.accepted_by
    advice = ""
    if failing := result.failing(share) if accepted else []:
        advice = note_entry(
            failing,
            reason=accepted,
            by=by,
            pull_request=pull.number,
            merged_as=(pull.merge_commit_sha or "") if pull.merged else "",
        )
    elif has_label and result.failing(share):
        advice = (
            f"The label `{label}` does not accept this commit yet. It needs a line "
            f"`{label}: reason` in the description; then remove the label and set it again."
        )
    text = comment(result, share, accepted, by=by, advice=advice)
    if result.cases or result.is_undecided(share) or ours:
        github.write_comment(pull.number, text, ours[-1][0] if ours else None)
    others = github.open_pull_requests(result.head) - {pull.number}
    description = sentence(result, share)
    if others:
        numbers = ", ".join(f"#{number}" for number in sorted({pull.number, *others}))
        description = f"{numbers} have one head commit, and so one status: close all but one"
    is_decided = undecided == "pass" or not result.is_undecided(share)
    passes = result.passes(share, accepted) and is_decided and not others
    github.set_status(result.head, CONTEXT, passes=passes, description=description)
    print(f"pull request {pull.number}: {description}")


def reason_in(description: str, label: str) -> str:
    """Find the reason in a line ``LABEL: reason``; empty if there is none."""
    for line in description.splitlines():
        name, _, reason = line.partition(":")
        if name.strip().casefold() == label.casefold() and reason.strip():
            return reason.strip()
    return ""


def _read_last(comments: list[tuple[int, str]]) -> Stored | None:
    """Read the result in the newest of our comments; ``None`` if it is missing or damaged."""
    try:
        return read_stored(comments[-1][1]) if comments else None
    except WatchError:
        return None
