"""The options that the commands of the watching half share, each defined once."""

from __future__ import annotations

from typing import Annotated

import typer

Cases = Annotated[
    str,
    typer.Option(
        metavar="PATTERN",
        help="Take only the cases whose name matches this regular expression, such as darnn.",
    ),
]
Torch = Annotated[
    str,
    typer.Option(
        metavar="RELEASE",
        help="Measure with this torch release of asv.conf.json: a number, newest, or all.",
    ),
]
Machine = Annotated[
    str,
    typer.Option(
        metavar="NAME", help="Name of this machine's folder of results; by default the host name."
    ),
]
