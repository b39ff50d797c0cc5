"""The subcommands that measure, compare and publish: their options and help.

Each calls the job of its name in `asv_watch.night`, which is imported when it is called.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from asv_watch.exit_status import ExitStatus

Cases = Annotated[
    str,
    typer.Option(
        metavar="PATTERN",
        help="Take only the cases whose name matches this regular expression.",
    ),
]
OneCase = Annotated[
    str, typer.Option(metavar="PATTERN", help="A regular expression that matches one case.")
]
Full = Annotated[bool, typer.Option("--full", help="Measure every case, not the short set.")]
Release = Annotated[
    str,
    typer.Option(
        metavar="RELEASE",
        help="Measure with this release of the main requirement of asv.conf.json: a number, "
        "newest, or all.",
    ),
]
Machine = Annotated[
    str,
    typer.Option(
        metavar="NAME", help="Name of this machine's folder of results; by default the host name."
    ),
]
_SIDE = "COMMIT[@RELEASE]"
Before = Annotated[str, typer.Option(metavar=_SIDE, help="The baseline; . is the working tree.")]
After = Annotated[str, typer.Option(metavar=_SIDE, help="What is compared with the baseline.")]


def bench(
    *,
    full: Full = False,
    cases: Cases = "",
    shard: Annotated[
        str,
        typer.Option(
            metavar="K/N", help="Measure only part K of N of the chosen cases, such as 2/5."
        ),
    ] = "",
    release: Release = "newest",
    machine: Machine = "",
) -> int:
    """Measure what is missing of HEAD, and publish the site."""
    from asv_watch.bench.command import bench as job

    return job(Path.cwd(), release=release, machine=machine, cases=cases, full=full, shard=shard)


def nightly(
    *,
    budget: Annotated[
        str, typer.Option(metavar="TIME", help="Time for measuring, such as 4h or 90min.")
    ] = "4h",
    full: Annotated[
        bool,
        typer.Option("--full", help="Go on with every case once the short set is measured."),
    ] = False,
    cases: Cases = "",
    release: Release = "all",
    machine: Machine = "",
) -> int:
    """Measure every commit that is not measured yet, most urgent first, and publish the site."""
    from asv_watch.night.command import nightly as job

    return job(Path.cwd(), release=release, machine=machine, cases=cases, full=full, budget=budget)


def compare(
    *,
    before: Before = "HEAD~1",
    after: After = "HEAD",
    stored: Annotated[
        bool,
        typer.Option(
            "--stored",
            help="Compare what is stored, and measure nothing. A side is a result file or "
            "MACHINE:COMMIT@ENVIRONMENT, of which all but the commit may be left out.",
        ),
    ] = False,
    values: Annotated[
        bool,
        typer.Option(
            "--values",
            help="Compare peak memory and tracked values too, as always where no case is timed.",
        ),
    ] = False,
    fail_if_slower: Annotated[
        bool, typer.Option("--fail-if-slower", help="Exit with status 4 if a case got slower.")
    ] = False,
    cases: Cases = "",
    release: Release = "newest",
    machine: Machine = "",
) -> int:
    """Compare two commits or releases, with interleaved rounds."""
    if stored:
        from asv_watch.compare.stored import compare_stored

        print(compare_stored(Path.cwd(), before=before, after=after, cases=cases))
        return ExitStatus.DONE
    from asv_watch.compare.command import compare as job

    return job(
        Path.cwd(),
        before=before,
        after=after,
        release=release,
        machine=machine,
        cases=cases,
        values=values,
        fail_if_slower=fail_if_slower,
    )


def reference(
    *,
    commit: Annotated[str, typer.Option(help="The commit to measure.")] = "HEAD",
    renew: Annotated[
        str,
        typer.Option(
            metavar="COMMIT@RELEASE",
            help="Measure a new reference against the old one, and name it in asv.conf.json.",
        ),
    ] = "",
    full: Full = False,
    cases: Cases = "",
    release: Release = "newest",
    machine: Machine = "",
) -> int:
    """Measure a commit interleaved with the reference that asv.conf.json names."""
    from asv_watch.compare.reference import reference as job

    return job(
        Path.cwd(),
        commit=commit,
        renew=renew,
        release=release,
        machine=machine,
        cases=cases,
        full=full,
    )


def confirm(*, machine: Machine = "") -> int:
    """Compare the two commits of each change that is suspected or was compared only once."""
    from asv_watch.compare.confirm import confirm as job

    return job(Path.cwd(), machine=machine)


def bisect(
    *,
    cases: OneCase,
    before: Annotated[str, typer.Option(metavar=_SIDE, help="Where the range begins.")],
    after: Annotated[
        str,
        typer.Option(metavar=_SIDE, help="Where it ends: a later commit, or another release."),
    ] = "HEAD",
    machine: Machine = "",
) -> int:
    """Find the commit, or the release of a requirement, that changed a case."""
    from asv_watch.bisect.command import bisect as job

    return job(Path.cwd(), before=before, after=after, cases=cases, machine=machine)


def explain(
    *,
    cases: OneCase,
    before: Before = "HEAD~1",
    after: After = "HEAD",
    release: Release = "newest",
    machine: Machine = "",
) -> int:
    """Name the operators that account for a difference, by the project's own profiler."""
    from asv_watch.explain.command import explain as job

    return job(
        Path.cwd(), before=before, after=after, release=release, cases=cases, machine=machine
    )


def calibrate(
    *,
    comparisons: Annotated[
        int, typer.Option(min=1, help="Interleaved comparisons of HEAD with itself.")
    ] = 3,
    cases: Cases = "",
    release: Release = "newest",
    machine: Machine = "",
) -> None:
    """Compare HEAD with itself: how noisy this machine is, and why."""
    from asv_watch.calibrate.command import calibrate as job

    job(
        Path.cwd(),
        comparisons=comparisons,
        release=release,
        machine=machine,
        cases=cases,
    )


_ACTIONS = ("list", "measure", "findings")


def releases(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[REQUIREMENT] [ACTION] [RELEASE]",
            help="A requirement, such as numpy, if asv.conf.json lists releases of several; list: "
            "listed, measured, missing and newly published; measure: compare each release, or "
            "RELEASE, with its predecessor; findings: every difference, and on how many days it "
            "was measured.",
        ),
    ] = None,
    *,
    against: Annotated[
        str,
        typer.Option(
            metavar="RELEASE",
            help="Compare with this release, not the predecessor; RELEASE itself gives the noise.",
        ),
    ] = "",
    commit: Annotated[
        str, typer.Option(help="measure: with the package of this commit on both sides.")
    ] = "HEAD",
    again: Annotated[
        bool, typer.Option("--again", help="measure: once more what is stored already.")
    ] = False,
    cases: Cases = "",
    machine: Machine = "",
) -> int:
    """Track what releases of a requirement change."""
    from asv_watch.releases import command as job

    words = words or []
    requirement = words.pop(0) if words and words[0] not in _ACTIONS else ""
    action = words.pop(0) if words else "list"
    release = words.pop(0) if words else ""
    if words or action not in _ACTIONS:
        raise typer.BadParameter(
            f"{(words or [action])[0]!r} is none of {', '.join(_ACTIONS)}, after the requirement"
        )
    if action == "list" and release:
        raise typer.BadParameter("list shows all releases; leave the release out")
    if action == "measure":
        return job.measure(
            Path.cwd(),
            requirement,
            release=release,
            against=against,
            commit=commit,
            machine=machine,
            cases=cases,
            again=again,
        )
    if action == "findings":
        return job.list_findings(
            Path.cwd(), requirement, release=release, against=against, machine=machine
        )
    return job.list_releases(Path.cwd(), requirement, machine=machine)


def report(
    *,
    markup: Annotated[
        Literal["markdown", "text"],
        typer.Option("--as", help="Markdown for an issue, or plain text for an e-mail."),
    ] = "markdown",
    state: Annotated[
        Literal["measured", "suspected", "all"], typer.Option(help="Which changes to print.")
    ] = "all",
    count: Annotated[int, typer.Option(min=1, help="Print at most so many, newest first.")] = 10,
    machine: Annotated[
        str, typer.Option(metavar="NAME", help="Only changes of this machine.")
    ] = "",
) -> int:
    """Print changes to hand on: what, since when, how much, how certain, which commit, why."""
    from asv_watch.publish.report_command import report as job

    return job(Path.cwd(), markup=markup, state=state, count=count, machine=machine)


def publish() -> None:
    """Write the site from the stored results."""
    from asv_watch.publish.command import publish as job

    job(Path.cwd())


def preview(
    *,
    host: Annotated[
        str, typer.Option(help="Address to listen on; 0.0.0.0 lets other machines see the site.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="TCP port; 0 takes a free one.")
    ] = 8080,
) -> None:
    """Serve the published site until Ctrl-C."""
    from asv_watch.publish.preview import preview as job

    job(Path.cwd(), host=host, port=port)
