"""``torchspeed releases``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from torchspeed.cli import watch_options as o


class Action(StrEnum):
    """What to do with torch releases."""

    LIST = "list"
    ADD = "add"
    MEASURE = "measure"


def releases(
    action: Annotated[
        Action,
        typer.Argument(
            help="list: pinned, measured, missing and newly published; add: try RELEASE with its "
            "torchvision and pin both; measure: compare each release with its predecessor."
        ),
    ] = Action.LIST,
    release: Annotated[
        str,
        typer.Argument(
            metavar="RELEASE", help="The torch release to add, or the only one to measure."
        ),
    ] = "",
    *,
    torchvision: Annotated[
        str, typer.Option(metavar="RELEASE", help="Add it with this release of torchvision.")
    ] = "",
    again: Annotated[
        bool, typer.Option("--again", help="Measure what is stored already once more.")
    ] = False,
    cases: o.Cases = "",
    machine: o.Machine = "",
) -> int:
    """Track how fast torch's releases are: list, add and measure them."""
    from torchspeed.watch.jobs import releases as job

    if action is Action.ADD and not release:
        raise typer.BadParameter("name the release, such as `torchspeed releases add 2.15.0`")
    if action is Action.LIST and release:
        raise typer.BadParameter("list shows all releases; leave the release out")
    if action is Action.ADD:
        return job.add(Path.cwd(), torch=release, torchvision=torchvision)
    if action is Action.MEASURE:
        return job.measure(Path.cwd(), release=release, machine=machine, cases=cases, again=again)
    return job.list_releases(Path.cwd(), machine=machine)
