"""The measured ratios of any two commits, releases or cases that comparisons join.

The view Compare looks its pairs up here: nothing is judged in the browser.
"""

import math
from collections import defaultdict
from itertools import combinations

from asv_watch.comparison import Ratio
from asv_watch.judge.release_history import ReleaseHistory
from asv_watch.site.case_table import CaseTable
from asv_watch.site.contents import Contents, SeriesSummary
from asv_watch.site.scripts import Json, shortened
from asv_watch.statistics.rule import Verdict
from asv_watch.versions.version import Release

_SIGNS = {Verdict.BETTER: -1, Verdict.SAME: 0, Verdict.WORSE: 1}


def commit_pairs(contents: Contents, row: SeriesSummary) -> list[list[float]]:
    """Return the pairs of a series: both commits, ratio, interval, verdict and level.

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
        [order[hashes[before]], order[hashes[after]], *_numbers(ratio, values.get(before))]
        for (before, after), ratio in compared.all_pairs().items()
    ]


def release_pairs(contents: Contents) -> list[Json]:
    """Return the pairs of releases of each machine, in the order of its releases' history.

    Values are that of the newest run with the newest release, times ratios.
    """
    newest: dict[tuple[str, str, Release], float] = {
        (row.series.machine, row.series.case.name, row.environment.release): row.last[1].value
        for row in contents.series
        if row.last
    }

    def pairs(history: ReleaseHistory, case: str) -> list[list[float]]:
        release = Release(history.requirement, history.releases[-1])
        reference = newest.get((history.machine, case, release))
        relative = history.relative[case].items()
        values = {name: (reference or 0.0) * ratio.ratio for name, ratio in relative}
        return [
            [first, last, *_numbers(ratio, values.get(before))]
            for (first, before), (last, after) in combinations(enumerate(history.releases), 2)
            if (ratio := history.ratio(case, before, after))
        ]

    return [
        {case: pairs(history, case) for case in history.relative}
        for history in contents.findings.release_histories
    ]


def case_pairs(contents: Contents, table: CaseTable) -> list[Json]:
    """Return the compared cases of each machine and release: both indices, then as for commits.

    Of a pair that was compared several times the newest counts. Its interval includes the noise
    that the machine's other comparisons show. Cases that no suite has any more are left out.
    """
    pairs: defaultdict[tuple[str, Release], dict[tuple[str, str], list[float]]]
    pairs = defaultdict(dict)
    for machine, comparisons in contents.history.comparisons.items():
        graphs = contents.findings.graphs[machine]
        for comparison in (each for each in comparisons if each.cases):
            key = machine, comparison.sitting.versions[0].release
            for before, after in combinations(comparison.measured_sides, 2):
                cases = comparison.cases[before], comparison.cases[after]
                ratio = graphs.alone(comparison, before, after)
                if ratio is not None and {*cases} <= table.index_of.keys():
                    indices = map(table.index_of.__getitem__, cases)
                    pairs[key][cases] = [*indices, *_numbers(ratio)]
    return [
        {"machine": machine, "conditions": str(release), "pairs": list(of_both.values())}
        for (machine, release), of_both in pairs.items()
    ]


def _numbers(ratio: Ratio, before: float | None = None) -> tuple[float, ...]:
    """Return ratio, both ends of its interval, -1, 0 or 1 as its verdict, and its level.

    The level is the geometric mean of the values of both sides: of those that were compared,
    unless the value before is given. A ratio of CPU time instead of wall time has 1 as a last
    number.
    """
    level = math.sqrt(ratio.ratio) * before if before else math.sqrt(ratio.before * ratio.after)
    numbers = (ratio.ratio, *ratio.interval)
    cpu_time_mark = (1,) if ratio.clock else ()
    return (*map(shortened, numbers), _SIGNS[ratio.verdict], shortened(level), *cpu_time_mark)
