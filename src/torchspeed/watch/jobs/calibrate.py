"""Measures how noisy this machine is, and keeps that for the site."""

from __future__ import annotations

from pathlib import Path

from torchspeed.errors import TorchspeedError
from torchspeed.watch.asv.selection import SHORT, matching
from torchspeed.watch.history.calibrations import FILE_NAME
from torchspeed.watch.history.git import ask_git
from torchspeed.watch.history.json_lines import append_lines
from torchspeed.watch.jobs.workplace import open_workplace
from torchspeed.watch.turns.calibrate import calibrate as measure_calibration
from torchspeed.watch.turns.calibration_report import report


def calibrate(
    root: Path, *, runs: int, comparisons: int, torch: str, machine: str, cases: str
) -> None:
    """Measure HEAD several times, print what the runs differ by, and store it.

    Args:
        root: the checkout.
        runs: of HEAD.
        comparisons: interleaved, of HEAD with itself.
        torch: a release that asv.conf.json pins, or ``newest``.
        machine: folder of results; the host's name if empty.
        cases: regular expression of cases; the short set if empty.

    Raises:
        TorchspeedError: more than one release was chosen, or nothing could be measured.
    """
    selection = matching(cases, otherwise=SHORT).only_times()
    if torch == "all":
        raise TorchspeedError("a calibration takes one torch release, not 'all'")
    with open_workplace(root, "calibrate", torch=torch, machine=machine) as place:
        calibration = measure_calibration(
            root,
            place.configuration,
            ask_git(root, "rev-parse", "HEAD"),
            place.pairs[0],
            place.machine,
            selection=selection,
            runs=runs,
            comparisons=comparisons,
        )
        path = place.results / FILE_NAME
        append_lines(path, [calibration])
        print(f"\n{report(calibration, place.machine)}\n")
        print(f"kept in {path.relative_to(root)}: the site's Status shows it")
