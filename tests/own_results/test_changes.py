"""Every number about this project's own results is what an auditor computes from the files."""

from __future__ import annotations

from math import log

import pytest

from asv_watch.judge.findings import Findings
from asv_watch.records.comparisons import RatioKind
from asv_watch.records.history import History
from tests.own_results import auditor

MACHINES = ("ci-2core", "ci-2core-zen5")
"""Machines with a long history."""


@pytest.mark.parametrize("machine", MACHINES)
def test_closed_ways_disagree_as_much_as_their_errors_say(
    audits: dict[str, auditor.Audit], machine: str
) -> None:
    """Between sittings; the default that counts as ten further ways moves it little."""
    audit = audits[machine]
    assert 0.003 < audit.between["time"] < 0.008
    chi_squared, ways = 0.0, 0
    for case in {line.case for line in audit.lines if line.metric == "time"}:
        if auditor.edges_of_versions(audit.lines, case):
            fit = audit.fit("versions", case)
            rank = len(fit.nodes) - findings_parts(fit)
            ways += len(fit.own) - rank
            chi_squared += fit.chi_squared
    assert ways > 400
    assert chi_squared / ways == pytest.approx(1, abs=0.1)


def findings_parts(fit: auditor.Fit) -> int:
    """Number of groups of nodes that nothing connects."""
    reached = {index: index for index in range(len(fit.nodes))}
    for row in fit.incidence:
        first, last = (index for index, sign in enumerate(row) if sign)
        old, new = reached[first], reached[last]
        reached = {index: new if part == old else part for index, part in reached.items()}
    return len(set(reached.values()))


def test_every_measured_change_is_what_the_files_say(
    stored_history: History, stored_findings: Findings, audits: dict[str, auditor.Audit]
) -> None:
    measured = [change for change in stored_findings.changes if change.is_measured]
    assert len(measured) > 30
    for change in measured:
        series = stored_history.series[change.series]
        if series.machine not in audits:
            continue
        release = stored_history.environments[series.environment].release.version
        before, after = (
            (stored_history.commits[index].hash, release)
            for index in (change.previous, change.commit)
        )
        audit, case = audits[series.machine], series.case.name
        noise = stored_findings.graphs[series.machine].noise(change.kind)  # type: ignore[arg-type]
        usual = auditor.usual_spread(audit.lines, change.kind)
        assert noise.usual_spread == pytest.approx(usual)
        fit = audit.fit("versions", case)
        ratio, interval = fit.ratio(before, after)
        assert change.ratio == pytest.approx(ratio, rel=1e-6), case
        assert change.interval == pytest.approx(interval, rel=1e-4), case
        assert abs(log(ratio)) >= log(1.015)
        assert not interval[0] <= 1 <= interval[1]
        old, new = change.values
        assert new / old == pytest.approx(ratio, rel=1e-6), "the values belong to the ratio"
        if not change.through:
            level = auditor.level(audit.lines, case, before, after)
            assert log(old * new) / 2 == pytest.approx(level)


def test_two_days_of_one_pair_agree_within_their_intervals(stored_findings: Findings) -> None:
    """About as often as 99 % promise: each pair that was measured again, against the others."""
    kinds: tuple[RatioKind, ...] = ("time", "memory")
    for machine in MACHINES:
        for kind in kinds:
            checks = [check for _, check in stored_findings.graphs[machine].checks(kind)]
            disagreeing = sum(check.disagrees for check in checks)
            assert disagreeing <= max(1, 0.04 * len(checks)), (machine, kind)


def test_a_version_against_itself_is_seldom_called_a_change(
    stored_history: History, stored_findings: Findings
) -> None:
    """With any recipe: the site shows those of the newest one alone."""
    claims = total = 0
    for machine, comparisons in stored_history.comparisons.items():
        nulls = (stored for stored in comparisons if stored.header.kind == "null")
        for ratio in (ratio for stored in nulls for ratio in stored.times):
            judged = stored_findings.graphs[machine].single(ratio)
            low, high = judged.interval
            claims += not low <= 1 <= high and abs(log(judged.ratio)) >= log(1.015)
            total += 1
    assert total > 400
    assert claims <= total / 300
