"""``python -m tools.nights``: how far the ratio of one commit to itself differs between nights.

Every night is one interleaved comparison of a commit with itself (A/A), stored with kind
``null`` like those of ``torchspeed compare``. The table holds, for each case, the standard
deviation of the ratio's logarithm over all stored nights of this commit, torch pair and machine,
and the largest deviation from 1. ``--nights 0`` measures nothing and prints the table.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from torchspeed.errors import TorchspeedError
from torchspeed.watch.analysis.ratio import verdict
from torchspeed.watch.analysis.rule import Verdict
from torchspeed.watch.asv.selection import SHORT, matching
from torchspeed.watch.history.comparisons import CaseRatio, StoredComparison, read_comparisons
from torchspeed.watch.jobs.workplace import open_workplace
from torchspeed.watch.turns.cases import list_cases
from torchspeed.watch.turns.compare import compare
from torchspeed.watch.turns.markdown import table
from torchspeed.watch.turns.sides import PACKAGES, side

TARGETS = (0.006, 0.02)
"""Standard deviation and worst deviation that the ratio should keep between nights."""
TARGETS_BUSY = (0.01, 0.03)
"""The same with another core busy."""


def report(nights: Sequence[StoredComparison], busy: bool) -> str:
    """Markdown: a row for each case that has a ratio in two nights or more, then all together.

    Raises:
        TorchspeedError: there is no such case.
    """
    by_case: dict[str, list[CaseRatio]] = {}
    for night in nights:
        for case in night.ratios:
            by_case.setdefault(case.case, []).append(case)
    logs = {
        name: [math.log(case.ratio) for case in cases]
        for name, cases in by_case.items()
        if len(cases) > 1
    }
    if not logs:
        raise TorchspeedError("no case has been measured in two nights yet; measure another one")
    rows = [
        (
            f"`{name}`",
            str(len(values)),
            f"{statistics.stdev(values):.2%}",
            f"{max(map(abs, values)):.2%}",
        )
        for name, values in sorted(logs.items(), key=lambda item: -statistics.stdev(item[1]))
    ]
    deviation = math.sqrt(
        statistics.fmean(statistics.variance(values) for values in logs.values())
    )
    worst = max(abs(value) for values in logs.values() for value in values)
    ratios = [case for cases in by_case.values() for case in cases]
    alarms = sum(verdict(case) is not Verdict.SAME for case in ratios)
    wanted_deviation, wanted_worst = TARGETS_BUSY if busy else TARGETS
    return "\n\n".join(
        [
            table(("case", "nights", "standard deviation", "worst"), rows),
            f"{len(nights)} nights, {len(logs)} cases: standard deviation {deviation:.2%} "
            f"(wanted: at most {wanted_deviation:.1%}), worst {worst:.2%} (wanted: at most "
            f"{wanted_worst:.0%}); {alarms} false alarms in {len(ratios)} ratios.",
        ]
    )


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tools.nights", description=__doc__)
    parser.add_argument("--nights", type=int, default=1, help="how many to measure (default: 1)")
    parser.add_argument("--pause", type=float, default=0.0, help="hours from one to the next")
    parser.add_argument("--commit", default="HEAD", help="what is measured (default: HEAD)")
    parser.add_argument("--busy", action="store_true", help="another core is kept busy meanwhile")
    parser.add_argument("--cases", default="", metavar="PATTERN")
    parser.add_argument("--torch", default="newest", metavar="RELEASE")
    parser.add_argument("--machine", default="", help="default: this host's name")
    return parser.parse_args(arguments)


def _work(options: argparse.Namespace) -> None:
    root = Path.cwd()
    selection = matching(options.cases, otherwise=SHORT).only_times()
    with open_workplace(root, "nights", torch=options.torch, machine=options.machine) as place:
        target = side(
            root, place.configuration, options.commit, place.pairs[0].torch, root / PACKAGES
        )
        if target.version is None:
            raise TorchspeedError("a night measures a commit; commit the changes of src/ first")
        for night in range(options.nights):
            if night:
                time.sleep(options.pause * 3600)
            cases = list_cases(
                root, [target.pair], place.machine, selection, target.version.commit
            )
            print(f"night {night + 1} of {options.nights}: {target.name}", flush=True)
            compare(place.configuration, (target, target), place.machine, cases)
        stored = [
            comparison
            for comparison in read_comparisons(place.configuration.results)[0]
            if comparison.header.kind == "null"
            and comparison.header.machine == place.machine
            and comparison.header.after == target.version
        ]
    print(f"\n{report(stored, options.busy)}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it; a mistake is one line on standard error."""
    try:
        _work(_parse(arguments))
    except TorchspeedError as error:
        print(f"torchspeed: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("torchspeed: interrupted; the finished cases are stored", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
