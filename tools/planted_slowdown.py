"""``make planted-slowdown``: are planted slowdowns found, and nothing where there is none.

HEAD is compared with itself, and with itself slowed down by known shares: after each sample the
process spins its case's own clock for that share of the time that the sample's calls are known to
take (`torchspeed.measure.probes.timer`). A planted case that is called slower is *found*; an
unchanged case that is called different is a *false alarm*.
"""

from __future__ import annotations

import argparse
import dataclasses
import datetime
import math
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from torchspeed.errors import TorchspeedError
from torchspeed.watch.analysis.ratio import verdict
from torchspeed.watch.analysis.rule import Verdict
from torchspeed.watch.asv import settings as configuration
from torchspeed.watch.asv.machine_identity import check_machine_name
from torchspeed.watch.asv.selection import SHORT, matching
from torchspeed.watch.exclusive.run import exclusive_run
from torchspeed.watch.history.comparisons import CaseRatio, Unmeasured
from torchspeed.watch.history.git import ask_git
from torchspeed.watch.jobs import preflight
from torchspeed.watch.machine import description as machine
from torchspeed.watch.progress import human_time
from torchspeed.watch.turns.cases import list_cases
from torchspeed.watch.turns.markdown import table
from torchspeed.watch.turns.repeated_comparisons import summarise_repeats
from torchspeed.watch.turns.rounds import measure_interleaved
from torchspeed.watch.turns.sides import PACKAGES, side

WANTED = {0.03: 0.95, 0.05: 0.95, 0.10: 1.0}
"""Planted share to the part of the cases in which it should be found."""

Repeats = Sequence[Sequence[CaseRatio]]
"""The ratios of each comparison of one kind."""


def report(repeats: Mapping[float, Repeats], heading: str) -> str:
    """Markdown: a row a case, then what was found against what is wanted.

    Args:
        repeats: planted share, 0 for the unchanged version, to its comparisons.
        heading: where, when and how it was measured.
    """
    by_share = {share: _by_case(comparisons) for share, comparisons in repeats.items()}
    unchanged = by_share[0.0]
    head = ["case", "A/A, worst", "false alarms"]
    for share in WANTED:
        head += [f"{share:.0%} measured", "found"]
    rows = []
    for name in sorted(unchanged, key=lambda name: -_worst(unchanged[name])):
        cells = [f"`{name}`", f"{_worst(unchanged[name]):.2%}", _count(unchanged[name])]
        for share in WANTED:
            ratios = by_share[share].get(name, [])
            measured = ", ".join(f"{case.ratio - 1:.1%}" for case in ratios)
            cells += [measured, _count(ratios, Verdict.WORSE)]
        rows.append(cells)
    summary = summarise_repeats(0.0, repeats[0.0])
    parts = [f"**{heading}**", table(head, rows)]
    if summary is not None:
        parts.append(
            f"A against A: noise {summary.noise:.2%}, worst {summary.worst:.2%}; "
            f"{summary.false_alarms} false alarms in {summary.ratios} comparisons (wanted: none)."
        )
    for share, wanted in WANTED.items():
        ratios = [case for comparison in repeats[share] for case in comparison]
        found = sum(verdict(case) is Verdict.WORSE for case in ratios)
        parts.append(
            f"{share:.0%} planted: found in {found} of {len(ratios)} "
            f"({found / max(1, len(ratios)):.1%}; wanted: {wanted:.0%})."
        )
    return "\n\n".join(parts)


def _by_case(comparisons: Repeats) -> dict[str, list[CaseRatio]]:
    by_case: dict[str, list[CaseRatio]] = {}
    for comparison in comparisons:
        for case in comparison:
            by_case.setdefault(case.case, []).append(case)
    return by_case


def _worst(ratios: Sequence[CaseRatio]) -> float:
    return math.expm1(max(abs(math.log(case.ratio)) for case in ratios))


def _count(ratios: Sequence[CaseRatio], wanted: Verdict | None = None) -> str:
    """How many ratios have a verdict, or any difference; ``1 of 3``."""
    verdicts = [verdict(case) for case in ratios]
    count = len(verdicts) - verdicts.count(Verdict.SAME)
    return f"{count if wanted is None else verdicts.count(wanted)} of {len(verdicts)}"


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make planted-slowdown")
    parser.add_argument("--repeats", type=int, default=1, help="of all comparisons (default: 1)")
    parser.add_argument("--cases", default="", metavar="PATTERN")
    parser.add_argument("--torch", default="newest", metavar="RELEASE")
    parser.add_argument("--machine", default="", help="default: this host's name")
    return parser.parse_args(arguments)


def _work(options: argparse.Namespace) -> None:
    if options.repeats < 1:
        raise TorchspeedError(f"--repeats {options.repeats} measures nothing; ask for 1 or more")
    root = Path.cwd()
    preflight.check_checkout(root)
    conf = configuration.read_configuration(root)
    pair = configuration.select_pairs(conf.pairs, options.torch)[0]
    preflight.check(root, conf, (pair,))
    name = options.machine or machine.default_name()
    check_machine_name(name)
    with exclusive_run(conf.environments, "planted-slowdown"):
        _measure(options, root, conf, pair, name)


def _measure(
    options: argparse.Namespace,
    root: Path,
    conf: configuration.Configuration,
    pair: configuration.Pair,
    name: str,
) -> None:
    selection = matching(options.cases, otherwise=SHORT).only_times()
    head = ask_git(root, "rev-parse", "HEAD")
    packages = root / PACKAGES
    unchanged = side(root, conf, head, pair.torch, packages)
    cases = list_cases(root, [pair], name, selection, head)
    started = time.monotonic()
    repeats: dict[float, list[list[CaseRatio]]] = {share: [] for share in (0.0, *WANTED)}
    for number in range(1, options.repeats + 1):
        for share, comparisons in repeats.items():
            print(f"repeat {number} of {options.repeats}: {share:.0%} slower", flush=True)
            sides = (unchanged, dataclasses.replace(unchanged, planted=share))
            results = measure_interleaved(sides, conf.suites, cases)
            comparisons.append([case for case in results if isinstance(case, CaseRatio)])
            for case in results:
                if isinstance(case, Unmeasured):
                    print(f"{case.case}: {case.failed or case.skipped}", file=sys.stderr)
    day = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")
    took = human_time(time.monotonic() - started)
    heading = f"{name}, {day}: commit {head[:8]}, {pair}, {options.repeats} repeats in {took}"
    print("\n" + report(repeats, heading))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it; a mistake is one line on standard error."""
    try:
        _work(_parse(arguments))
    except TorchspeedError as error:
        print(f"torchspeed: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("torchspeed: interrupted before all rounds were measured", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
