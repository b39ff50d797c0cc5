"""Every number about this project's own results is what an auditor computes from the files."""

from __future__ import annotations

from collections import Counter
from math import log

import pytest

from asv_watch.judge.findings import Findings
from asv_watch.records.history import History
from tests.own_results import auditor

MACHINES = ("ci-2core", "ci-2core-zen5")
"""Machines with a long history."""


@pytest.mark.parametrize("machine", MACHINES)
def test_repeats_contradict_no_more_often_than_promised(
    audits: dict[str, auditor.Audit], machine: str
) -> None:
    """At most 2 % of 99 % intervals, each comparison against all others, by metric and graph."""
    audit = audits[machine]
    counts: Counter[tuple[str, str, bool]] = Counter()
    for kind, case in audit.between:
        if not case.startswith("import "):
            fit = audit.fit(kind, case)
            metric = fit.stars[0].line.metric
            counts.update((kind, metric, contradicted) for contradicted in fit.contradictions())
    assert sum(counts.values()) > 800
    for kind, metric, _ in dict.fromkeys(counts):
        contradicted, others = (counts[kind, metric, answer] for answer in (True, False))
        assert contradicted <= 0.02 * (contradicted + others), (kind, metric)


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
        usual = audit.usual_spread(change.kind)
        graphs = stored_findings.graphs[series.machine]
        assert graphs.usual_spread[change.kind] == pytest.approx(usual)  # type: ignore[index]
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


def test_a_version_against_itself_is_seldom_called_a_change(
    stored_history: History, stored_findings: Findings
) -> None:
    """With any recipe: the site shows those of the newest one alone."""
    claims = total = 0
    for machine, comparisons in stored_history.comparisons.items():
        for comparison in comparisons:
            if comparison.sitting.kind != "null" or comparison.metric != "time":
                continue
            ratio = stored_findings.graphs[machine].alone(comparison, 0, 1)
            if ratio is not None:
                low, high = ratio.interval
                claims += not low <= 1 <= high and abs(log(ratio.ratio)) >= log(1.015)
                total += 1
    assert total > 400
    assert claims <= total / 300
