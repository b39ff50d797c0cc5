"""The changes that a night compares again, because they are only suspected."""

from __future__ import annotations

import pytest

from asv_watch.judge.findings import analyse
from asv_watch.night.suspects import Suspects, find_suspects
from asv_watch.versions.releases import Release
from tests.judge.test_findings import comparison, history_of, noisy, together
from tests.making import MACHINE, commit_hash


def test_suspected_changes_of_this_machine_are_measured_newest_first() -> None:
    quiet, jumped, lasting = noisy({}), noisy({39: 1.3}), noisy({20: 1.3})
    history = history_of(quiet, jumped, lasting)
    suspects = find_suspects(history, analyse(history).changes, MACHINE)
    cases = [series.case.name for series in history.series]
    assert suspects == [
        Suspects(
            commit_hash(38), commit_hash(39), Release("torch", "2.15.0"), frozenset({cases[1]})
        ),
        Suspects(
            commit_hash(19), commit_hash(20), Release("torch", "2.15.0"), frozenset({cases[2]})
        ),
    ]
    assert find_suspects(history, analyse(history).changes, "another") == []


@pytest.mark.parametrize(("comparisons", "wanted"), [(0, True), (1, True), (2, False)])
def test_a_suspicion_without_an_answer_is_compared_twice(comparisons: int, wanted: bool) -> None:
    unsure = comparison(38, 39, 1.15, half=0.2)
    history = history_of(noisy({39: 1.3}), comparisons=together(*[unsure] * comparisons))
    findings = analyse(history)
    [unsure_change] = (*findings.changes, *findings.near)
    assert bool(find_suspects(history, [unsure_change], MACHINE)) is wanted
