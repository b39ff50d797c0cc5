"""The subcommands that guard pull requests: one measures, the other writes the comment."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from asv_watch.cli.watch import Machine, Release

EXAMPLES = (
    "Examples: asv-watch gate; "
    "asv-watch gate --base origin/main --limit 40min --threshold 5% --comment gate.md"
)

Threshold = Annotated[
    str, typer.Option(metavar="PERCENT", help="Smallest slowdown of a case that fails the gate.")
]

Undecided = Annotated[
    Literal["fail", "pass"],
    typer.Option(help="Result of the gate if the time was too short to decide."),
]


def gate(
    *,
    base: Annotated[
        str,
        typer.Option(
            metavar="COMMIT",
            help="Branch that the pull request goes into; by default the first of asv.conf.json.",
        ),
    ] = "",
    head: Annotated[
        str, typer.Option(metavar="COMMIT", help="Newest commit of the pull request.")
    ] = "HEAD",
    limit: Annotated[
        str, typer.Option(metavar="TIME", help="Time for building and measuring, such as 20min.")
    ] = "20min",
    threshold: Threshold = "3%",
    override: Annotated[
        str, typer.Option(metavar="REASON", help="Accept slower cases for this reason.")
    ] = "",
    undecided: Undecided = "fail",
    comment: Annotated[
        str, typer.Option(metavar="FILE", help="Write the comment to this file, as Markdown.")
    ] = "",
    json: Annotated[
        str, typer.Option(metavar="FILE", help="Write the result to this file, for gate-comment.")
    ] = "",
    pull_request: Annotated[
        int,
        typer.Option(
            metavar="NUMBER", min=0, help="Number of the pull request, for gate-comment."
        ),
    ] = 0,
    cases: Annotated[
        str,
        typer.Option(
            metavar="PATTERN",
            help="Measure the cases that match, not those that the diff touches.",
        ),
    ] = "",
    release: Release = "newest",
    machine: Machine = "",
) -> int:
    """Decide if a pull request is slower than its merge base in the cases that it touches."""
    from asv_watch.gate.command import gate as job

    return job(
        Path.cwd(),
        base=base,
        head=head,
        limit=limit,
        threshold=threshold,
        cases=cases,
        override=override,
        undecided=undecided,
        comment_file=comment,
        json_file=json,
        pull_request=pull_request,
        release=release,
        machine=machine,
    )


def gate_comment(
    result: Annotated[
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
    threshold: Threshold = "3%",
    undecided: Undecided = "fail",
    author: Annotated[
        str, typer.Option(metavar="LOGIN", help="Account that writes the comment.")
    ] = "github-actions[bot]",
) -> None:
    """Write a gate's result to its pull request on GitHub, in a workflow that may write."""
    from asv_watch.gate.comment_command import gate_comment as job

    job(
        result,
        head=head,
        pull_request=pull_request,
        label=label,
        labelled=labelled,
        threshold=threshold,
        undecided=undecided,
        author=author,
    )
