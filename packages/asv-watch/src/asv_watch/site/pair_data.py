"""The measured ratios of any two commits, releases or cases that comparisons join.

The view Compare looks its pairs up here: nothing is judged in the browser.
"""

import math
from collections import defaultdict
from itertools import combinations

import msgspec

from asv_watch.comparison import Ratio
from asv_watch.judge.release_history import ReleaseHistory
from asv_watch.site.case_table import CaseTable
from asv_watch.site.contents import Contents, SeriesSummary
from asv_watch.site.scripts import shortened, shortened_ends
from asv_watch.statistics.rule import Verdict
from asv_watch.versions.version import Release

_SIGNS = {Verdict.BETTER: -1, Verdict.SAME: 0, Verdict.WORSE: 1}


class PairRow(msgspec.Struct, array_like=True):
    """The ratio of two versions by all comparisons that join them."""

    p: int
    """Index of the earlier version, and of the later."""
    c: int
    ratio: float
    low: float
    """Ends of its interval."""
    high: float
    sign: int
    """-1 is better, 1 is worse."""
    level: float
    """Geometric mean of the values of both."""
    cpu_time: int
    """1 if the ratio is of CPU time instead of wall time."""


class ComparedCases(msgspec.Struct):
    """Cases that do the same in two ways, measured interleaved."""

    machine: str
    conditions: str
    """What it was measured with: ``torch 2.15.0``."""
    pairs: list[PairRow]
    """Their versions are indices of cases."""


def commit_pairs(contents: Contents, row: SeriesSummary) -> list[PairRow]:
    """Return the pairs of commits of a series.

    Values are those of the newest run, times ratios, so that a commit has one value everywhere.
    """
    order, hashes = contents.history.order, contents.history.hashes
    compared = contents.findings.compared[row.index]
    values: dict[int, float] = {}
    if row.last:
        newest = contents.history.positions[contents.history.commits[row.last[0]].hash]
        for position in compared.nodes if newest in compared.nodes else ():
            ratio = compared.ratio(position, newest)
            if ratio is not None:
                values[position] = row.last[1].value / ratio.ratio
    return [
        _row(order[hashes[before]], order[hashes[after]], ratio, values.get(before))
        for (before, after), ratio in compared.all_pairs().items()
    ]


def release_pairs(contents: Contents) -> list[dict[str, list[PairRow]]]:
    """Return the pairs of releases of each machine by case, in the order of release histories.

    Values are that of the newest run with the newest release, times ratios.
    """
    newest: dict[tuple[str, str, Release], float] = {
        (row.series.machine, row.series.case.name, row.environment.release): row.last[1].value
        for row in contents.series
        if row.last
    }

    def pairs(history: ReleaseHistory, case: str) -> list[PairRow]:
        release = Release(history.requirement, history.releases[-1])
        reference = newest.get((history.machine, case, release))
        relative = history.relative[case].items()
        values = {name: (reference or 0.0) * ratio.ratio for name, ratio in relative}
        return [
            _row(first, last, ratio, values.get(before))
            for (first, before), (last, after) in combinations(enumerate(history.releases), 2)
            if (ratio := history.ratio(case, before, after))
        ]

    return [
        {case: pairs(history, case) for case in history.relative}
        for history in contents.findings.release_histories
    ]


def case_pairs(contents: Contents, table: CaseTable) -> list[ComparedCases]:
    """Return the compared cases of each machine and release.

    Of a pair that was compared several times the newest counts. Its interval includes the noise
    that the machine's other comparisons show. Cases that no suite has any more are left out.
    """
    pairs: defaultdict[tuple[str, Release], dict[tuple[str, str], PairRow]] = defaultdict(dict)
    for machine, comparisons in contents.history.comparisons.items():
        graphs = contents.findings.graphs[machine]
        for comparison in (each for each in comparisons if each.cases):
            key = machine, comparison.sitting.versions[0].release
            for before, after in combinations(comparison.measured_sides, 2):
                cases = comparison.cases[before], comparison.cases[after]
                ratio = graphs.alone(comparison, before, after)
                if ratio is not None and {*cases} <= table.index_of.keys():
                    first, last = (table.index_of[case] for case in cases)
                    pairs[key][cases] = _row(first, last, ratio)
    return [
        ComparedCases(machine, str(release), list(of_both.values()))
        for (machine, release), of_both in pairs.items()
    ]


def _row(first: int, last: int, ratio: Ratio, before: float | None = None) -> PairRow:
    """Return a pair; its level is of the values compared, unless the value before is given."""
    level = math.sqrt(ratio.ratio) * before if before else math.sqrt(ratio.before * ratio.after)
    return PairRow(
        first,
        last,
        shortened(ratio.ratio),
        *shortened_ends(ratio.interval),
        _SIGNS[ratio.verdict],
        shortened(level),
        int(bool(ratio.clock)),
    )
