"""``python -m tools.sensitivity``: which differences interleaved comparisons detect here.

A commit is compared with itself (A/A): what the ratios differ from 1 by is noise, and a ratio that
is called a difference is a *false alarm*. ``--planted 0 3`` compares the commit with itself as it
is and slowed by 3 %: after each sample the process spins its case's own clock
(`asv_watch.probes.timer`). A planted case that is called slower is *found*. The
comparisons are stored with kind ``null`` or ``planted``, each case when it is finished, and the
report counts all stored ones of this commit, release, machine and recipe; ``--repeats 0``
measures nothing.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from asv_watch.asv.selection import SHORT, matching
from asv_watch.checkout.workplace import open_workplace
from asv_watch.compare.measure import compare, recipe
from asv_watch.interleave.cases import list_cases
from asv_watch.interleave.rounds import DEFAULT
from asv_watch.interleave.sides import side
from asv_watch.judge.repeated_comparisons import summarise_case
from asv_watch.markdown import table
from asv_watch.records.comparisons import CaseRatio, read_comparisons
from asv_watch.statistics.noise import noise_together
from asv_watch.statistics.rule import Verdict, verdict
from tools.exit_status import exit_status
from torchspeed.errors import TorchspeedError

WANTED = {0.03: 0.95, 0.05: 0.95, 0.10: 1.0}
"""Planted share to the part of the cases in which it should be found."""
TARGETS = (0.006, 0.02)
"""Noise and worst deviation that the ratio should keep between nights."""
TARGETS_BUSY = (0.01, 0.03)
"""Targets with another core busy."""


def report(
    unchanged: Sequence[CaseRatio], planted: Mapping[float, Sequence[CaseRatio]], *, busy: bool
) -> str:
    """Return Markdown: a row for each case, then what was measured against what is wanted.

    Args:
        unchanged: ratios of the commit to itself.
        planted: planted share to its ratios; empty if none was planted.
        busy: another core was kept busy during the measurement.

    Raises:
        TorchspeedError: there is no ratio of the commit to itself.
    """
    names = dict.fromkeys(case.case for case in unchanged)
    if not names:
        raise TorchspeedError(
            "no ratio of this commit to itself is stored; give --planted 0 and --repeats 1 or more"
        )
    summaries = [summarise_case(name, _of_case(name, unchanged)) for name in names]
    summaries.sort(key=lambda summary: -summary.noise)
    rows = [
        (
            f"`{summary.case}`",
            f"{summary.noise:.2%}",
            f"{summary.worst:.2%}",
            _found(_of_case(summary.case, unchanged), {Verdict.BETTER, Verdict.WORSE}),
            *(_measured(_of_case(summary.case, ratios)) for ratios in planted.values()),
        )
        for summary in summaries
    ]
    noise = noise_together([summary.noise for summary in summaries])
    worst = max(summary.worst for summary in summaries)
    wanted_noise, wanted_worst = TARGETS_BUSY if busy else TARGETS
    alarms = _found(unchanged, {Verdict.BETTER, Verdict.WORSE})
    parts = [
        table(
            ("case", "noise", "worst", "false alarms", *(f"{s:.0%} found" for s in planted)), rows
        ),
        f"{len(names)} cases: noise {noise:.2%} (wanted: at most {wanted_noise:.1%}), worst "
        f"{worst:.2%} (wanted: at most {wanted_worst:.0%}); false alarms: {alarms} "
        "(wanted: none).",
    ]
    for share, ratios in planted.items():
        detected = _found(ratios, {Verdict.WORSE})
        parts.append(f"{share:.0%} planted: found in {detected} (wanted: {WANTED[share]:.0%}).")
    return "\n\n".join(parts)


def _of_case(name: str, ratios: Sequence[CaseRatio]) -> list[CaseRatio]:
    return [case for case in ratios if case.case == name]


def _found(ratios: Sequence[CaseRatio], verdicts: set[Verdict]) -> str:
    return f"{sum(verdict(case) in verdicts for case in ratios)} of {len(ratios)}"


def _measured(ratios: Sequence[CaseRatio]) -> str:
    measured = ", ".join(f"{case.ratio - 1:.1%}" for case in ratios)
    return f"{_found(ratios, {Verdict.WORSE})}: {measured}"


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tools.sensitivity")
    parser.add_argument("--repeats", type=int, default=1, help="of all comparisons (default: 1)")
    parser.add_argument("--pause", type=float, default=0.0, help="hours from one to the next")
    parser.add_argument(
        "--planted",
        nargs="+",
        type=int,
        choices=[0, *(round(100 * share) for share in WANTED)],
        default=[0],
        help="percent by which one side is slowed; 0, the default, compares like with like",
    )
    parser.add_argument("--commit", default="HEAD", help="what is measured (default: HEAD)")
    parser.add_argument("--busy", action="store_true", help="another core is kept busy")
    parser.add_argument("--cases", default="", metavar="PATTERN", help="default: the short set")
    parser.add_argument("--release", default="newest", metavar="RELEASE")
    parser.add_argument("--machine", default="", help="default: this host's name")
    return parser.parse_args(arguments)


def _work(options: argparse.Namespace) -> None:
    selection = matching(options.cases, otherwise=SHORT).only_times()
    shares = [percent / 100 for percent in options.planted]
    with open_workplace(
        Path.cwd(), "sensitivity", release=options.release, machine=options.machine
    ) as place:
        unchanged = side(place, options.commit, place.environments[0].version)
        if unchanged.version is None:
            raise TorchspeedError("a commit is compared with itself; commit the changes of src/")
        for number in range(1, options.repeats + 1):
            cases = list_cases(place, [unchanged.environment], selection, unchanged.version.commit)
            for share in shares:
                print(f"repeat {number} of {options.repeats}: {share:.0%} slower", flush=True)
                slowed = dataclasses.replace(unchanged, planted=share)
                compare(place, (unchanged, slowed), cases)
            if number < options.repeats:
                time.sleep(options.pause * 3600)
        comparisons = read_comparisons(place.configuration.results)[0]
    stored = {
        share: [
            case
            for comparison in comparisons
            if comparison.header.kind == ("planted" if share else "null")
            and comparison.header.machine == place.machine
            and comparison.header.after == unchanged.version
            and comparison.header.recipe
            == recipe(DEFAULT, forks=unchanged.can_fork, planted=share)
            for case in comparison.ratios
        ]
        for share in (0.0, *shares)
    }
    planted = {share: ratios for share, ratios in stored.items() if share and ratios}
    print(f"\n{report(stored[0.0], planted, busy=options.busy)}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it; a mistake is one line on standard error."""
    options = _parse(arguments)
    return exit_status(lambda: _work(options), "the cases that finished are stored")


if __name__ == "__main__":
    sys.exit(main())
