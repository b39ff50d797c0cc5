"""Options that several commands have."""

from typing import Annotated

import typer

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
TimeBudget = Annotated[
    str,
    typer.Option(
        "--budget",
        metavar="TIME",
        help="Stop measuring after this time, such as 10m or 4h, and keep the finished cases.",
    ),
]
TimeLimit = Annotated[
    str,
    typer.Option(
        "--limit",
        "--budget",
        metavar="TIME",
        help="Measure for this time at most, such as 10min or 600 (seconds), and answer from what "
        "was measured until then.",
    ),
]
SIDE = "COMMIT[@RELEASE]"
Before = Annotated[str, typer.Option(metavar=SIDE, help="The baseline; . is the working tree.")]
After = Annotated[str, typer.Option(metavar=SIDE, help="What is compared with the baseline.")]
