"""Compares a commit with itself several times, to see how noisy this machine is."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from asv_watch.asv.selection import SHORT, matching
from asv_watch.asv.settings import ALL
from asv_watch.compare.report import differences_of, report
from asv_watch.comparison import Comparison
from asv_watch.engine.cases import list_cases
from asv_watch.engine.measuring import measure
from asv_watch.engine.workplace import commit_side, open_workplace
from asv_watch.errors import ExitStatus, WatchError
from asv_watch.judge import graph
from asv_watch.options import Cases, Machine, Release
from asv_watch.text import quantities
from asv_watch.versions.git import ask_git


def calibrate(
    *,
    comparisons: Annotated[
        int, typer.Option(min=1, help="Number of interleaved comparisons of HEAD with itself.")
    ] = 3,
    sides: Annotated[
        int, typer.Option(min=2, help="Number of sides of a comparison that all are HEAD.")
    ] = 2,
    planted: Annotated[
        int,
        typer.Option(
            min=0, metavar="PERCENT", help="Slow one side down by this, to see if that is found."
        ),
    ] = 0,
    cases: Cases = "",
    release: Release = "newest",
    machine: Machine = "",
) -> ExitStatus:
    """Compare HEAD with itself, and print how far the ratios are from 1.

    Each comparison is stored; the site's view *About the data* shows the noise of all of them.

    Raises:
        WatchError: more than one release was chosen, or no case ran.
    """
    selection = matching(cases, otherwise=SHORT)
    if release == ALL:
        raise WatchError("a calibration takes one release, not 'all'")
    with open_workplace(Path.cwd(), "calibrate", release=release, machine=machine) as workplace:
        commit = ask_git(workplace.configuration.repository, "rev-parse", "HEAD")
        version = commit_side(workplace, commit, workplace.environments[0])
        slowed = dataclasses.replace(version, planted=planted / 100)
        after = f"{slowed.name}, slowed down by {planted} %" if planted else slowed.name
        timed = list_cases(workplace, [version], selection, "time")
        measured: list[Comparison] = []
        failed: dict[str, None] = {}
        for number in range(1, comparisons + 1):
            print(f"comparison {number} of {comparisons} of {commit[:8]} with itself", flush=True)
            compared = measure(workplace, [version] * (sides - 1) + [slowed], timed)
            compared = compared.between(0, sides - 1)
            found = differences_of(compared, workplace.machine)
            print(f"\n{report(compared, found, version.name, after)}\n", flush=True)
            measured += compared.cases
            failed |= dict.fromkeys(compared.failures)
    if not planted:
        graphs = graph.machine_graphs(workplace.configuration.results, workplace.machine)
        ratios = graph.ratios_to_first(measured, graphs)
        print(
            f"{len(ratios)} ratios of {commit[:8]} to itself differ from 1 by "
            f"{graph.noise_in_words(ratios)}.\n{place_in_words(measured, graphs, sides)}"
        )
        print(
            f"Smallest detectable change of a comparison on {workplace.machine}: "
            f"{graph.smallest_changes(measured, graphs)}. "
            "`pyperf system show` names settings that disturb timings."
        )
    if failed:
        print(f"Failed: {', '.join(failed)}.")
        return ExitStatus.SOME_CASES_FAILED
    return ExitStatus.DONE


def place_in_words(
    comparisons: Sequence[Comparison], graphs: graph.MachineGraphs, sides: int
) -> str:
    """Say which place among sides that are the same differs most from the others.

    The standard error is that of the rounds alone: sides of one sitting share all else.
    """
    usual = graphs.usual_spread["time"]
    stars = [star for each in comparisons if (star := each.star(usual))]
    stars = [star for star in stars if len(star.nodes) == sides]
    if not stars:
        return "No comparison has two rounds of all sides."
    weights = np.full((sides, sides), -1 / (sides - 1))
    np.fill_diagonal(weights, 1.0)
    differences = weights @ np.mean([star.levels for star in stars], axis=0)
    variances = np.mean([star.variances for star in stars], axis=0)
    in_errors = differences / np.sqrt(weights**2 @ variances / len(stars))
    place = int(np.argmax(np.abs(in_errors)))
    return (
        f"Place {place + 1} of {sides} differs most from the mean of the others: "
        f"{quantities.share(abs(differences[place]))} "
        f"{'slower' if differences[place] > 0 else 'faster'}, "
        f"{abs(in_errors[place]):.1f} standard errors."
    )
