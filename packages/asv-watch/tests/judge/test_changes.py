"""What the analysis says about a history: changes, what they rest on, their cause and note.

Any two commits that comparisons join have a ratio, by all ways between them.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pytest
from msgspec import structs

from asv_watch.comparison import NEVER_RUN, Comparison, Run
from asv_watch.judge.changes import analyse
from asv_watch.records.history import History, Measured
from asv_watch.records.notes import ChangeNote, Notes
from asv_watch.statistics.rule import Verdict
from tests.making import ENVIRONMENT, MACHINE, commit_hash, make_history, make_series, run_of
from tests.planted_comparisons import compared_commits


def noisy(
    changes: Mapping[int, float], commits: int = 40, seed: int = 3, noise: float = 0.01
) -> list[float]:
    """Values with noise that are multiplied by a factor from a commit on."""
    values = np.random.default_rng(seed).lognormal(0.0, noise, commits)
    for commit, factor in changes.items():
        values[commit:] *= factor
    return [float(value) for value in values]


def history_of(
    values: Sequence[float | Run], *sittings: list[Comparison], **changes: Any
) -> History:
    compared = {MACHINE: tuple(itertools.chain(*sittings))}
    return make_history([make_series(values)], comparisons=compared, **changes)


def found(history: History) -> list[tuple[int, int, str]]:
    """The changes of a history, oldest first: commits before and after, and what they rest on."""
    return sorted((c.previous, c.commit, c.state) for c in analyse(history).changes)


def test_noise_alone_is_seldom_suspected() -> None:
    series = [
        make_series(noisy({}, commits=20, seed=seed), model=f"m{seed}") for seed in range(400)
    ]
    assert len(analyse(make_history(series)).changes) <= 8


@pytest.mark.parametrize("exact", [True, False])
def test_a_tracked_value_changes_only_if_it_is_exact(exact: bool) -> None:
    history = history_of([*[1000.0] * 10, *[1001.0] * 10, *[2002.0] * 10, 0.0])
    tracked = {
        name: structs.replace(benchmark, type="track", exact=exact)
        for name, benchmark in history.benchmarks.items()
    }
    findings = analyse(replace(history, benchmarks=tracked))
    assert findings.changes == ()
    changes = {c.commit: (c.kind, c.values, c.ratio) for c in findings.exact_changes}
    steps = {
        30: ("exact", (2002.0, 0.0), None),
        20: ("exact", (1001.0, 2002.0), 2.0),
        10: ("exact", (1000.0, 1001.0), 1.001),
    }
    assert changes == (steps if exact else {})


def comparison(
    before: int, after: int, ratio: float, half: float = 0.005, **others: Any
) -> list[Comparison]:
    """A comparison of two commits by their numbers, with other arguments of `compared_commits`."""
    ratios = {make_series([1.0]).case.name: ratio}
    return compared_commits((before, after), ratios, half=half, **({"at": 1} | others))


@pytest.mark.parametrize("ratio", [1.19, 0.9])
def test_a_comparison_of_its_two_commits_measures_a_suspicion(ratio: float) -> None:
    history = history_of(noisy({38: 1.2}), comparison(37, 38, ratio))
    assert found(history) == [(37, 38, "measured")]
    [change] = analyse(history).changes
    assert change.ratio == pytest.approx(ratio)
    assert change.compared is not None
    low, high = change.compared.interval
    assert low < ratio / 1.005 < ratio * 1.005 < high, "other sittings"
    before, after = change.values
    assert after / before == pytest.approx(ratio)
    assert before * after == pytest.approx(0.01**2 * ratio, rel=1e-4), "their level"
    assert change.verdict is (Verdict.WORSE if ratio > 1 else Verdict.BETTER)


def test_a_measured_change_needs_no_run_that_shows_it() -> None:
    for values in (noisy({}), [run_of(1.0), *[NEVER_RUN] * 39]):
        history = history_of(values, comparison(12, 13, 1.03))
        assert found(history) == [(12, 13, "measured")]


def test_neighbours_that_were_compared_with_others_have_a_ratio() -> None:
    """The reference is an old commit of another release, which is no level of the series."""
    points = [
        comparison(5, commit, ratio, kind="reference", before_torch="2.14.1", at=3600 * commit)
        for commit, ratio in ((20, 1.049), (25, 0.999), (30, 0.389))
    ]
    changes = analyse(history_of(noisy({}), *points)).changes
    assert [(change.previous, change.commit) for change in changes] == [(25, 30), (20, 25)]
    [direct] = analyse(history_of(noisy({}), comparison(25, 30, 0.389))).changes
    assert direct.compared is not None
    narrow = np.log(direct.compared.interval[1] / 0.389)
    for change, ratio in zip(changes, (0.389 / 0.999, 0.999 / 1.049), strict=True):
        assert change.compared is not None
        assert change.compared.sittings == (), "each was compared with others"
        assert change.ratio == pytest.approx(ratio)
        wide = np.log(change.compared.interval[1] / ratio)
        assert wide == pytest.approx(2**0.5 * narrow, rel=0.01), "variances add up"


FROM_REFERENCE = [
    comparison(20, commit, ratio, kind="reference") for commit, ratio in ((10, 1.25), (30, 0.9))
]
UNCHANGED_PART = comparison(10, 14, 1.0)


@pytest.mark.parametrize(
    ("compared", "expected"),
    [
        (FROM_REFERENCE, {(10, 20): 0.8, (20, 30): 0.9}),
        (
            [comparison(10, 18, 1.32), comparison(10, 14, 1.1), comparison(14, 18, 1.2)],
            {(10, 14): 1.1, (14, 18): 1.2},
        ),
        ([comparison(10, 18, 1.2), UNCHANGED_PART, comparison(16, 18, 1.0)], {(14, 16): 1.2}),
        ([comparison(10, 18, 1.32), UNCHANGED_PART], {(14, 18): 1.32}),
    ],
    ids=["reference amid the branch", "halves of a range", "both ends unchanged", "one unchanged"],
)
def test_the_smallest_ranges_that_show_a_change_count(compared: list[Any], expected: Any) -> None:
    changes = analyse(history_of(noisy({}), *compared)).changes
    measured = {(c.previous, c.commit): c.ratio for c in changes if c.is_measured}
    assert measured == pytest.approx(expected)


@pytest.mark.parametrize(
    ("compared", "changes"),
    [
        (comparison(37, 38, 1.001), []),
        (comparison(30, 35, 1.0), []),
        (comparison(37, 38, 1.0, torch="2.14.1"), [(37, 38, "suspected")]),
        (comparison(37, 38, 1.0, kind="planted"), [(37, 38, "suspected")]),
    ],
    ids=["of its commits", "of other commits", "of another release", "planted"],
)
def test_only_a_series_that_nobody_compared_is_suspected(compared: Any, changes: Any) -> None:
    assert found(history_of(noisy({38: 1.2}), compared)) == changes


def test_nothing_is_suspected_across_a_change_of_the_machine() -> None:
    setup = {commit_hash(n): Measured({"cpu": "new" if n >= 39 else "old"}) for n in range(40)}
    findings = analyse(history_of(noisy({39: 1.5}), setups={(MACHINE, ENVIRONMENT): setup}))
    assert findings.changes == ()
    assert [event.fact for event in findings.events] == ["cpu"]


def test_runs_that_changed_with_installed_software_are_suspected_of_that() -> None:
    pythons = {n: {"python": "3.12" if n >= 20 else "3.11"} for n in range(40)}
    setup = {commit_hash(n): Measured(facts) for n, facts in pythons.items()}
    here: dict[str, Any] = {"setups": {(MACHINE, ENVIRONMENT): setup}}
    [change] = analyse(history_of(noisy({20: 1.2}), **here)).changes
    assert change.cause == "environment"
    compared = comparison(19, 20, 1.2)  # both sides with the same software
    [change] = analyse(history_of(noisy({20: 1.2}), compared, **here)).changes
    assert change.cause == "code"


@pytest.mark.parametrize("commit", [17, 18, 19, 20, 21])
def test_a_note_is_shown_with_a_change_that_its_commit_may_have_caused(commit: int) -> None:
    runs: dict[int, float | Run] = dict(enumerate(noisy({20: 1.2})))
    del runs[18], runs[19]  # not measured: the change may be theirs
    notes = Notes(((commit, ChangeNote(commit_hash(commit), "expected", "The batch grew")),))
    [change] = analyse(make_history([make_series(runs)], notes=notes)).changes
    assert (change.note is not None) == (commit in {18, 19, 20})


@pytest.mark.parametrize(
    ("kind", "compared", "is_shown"),
    [
        ("expected", [], True),
        ("false alarm", [], False),
        ("false alarm", comparison(19, 20, 1.2, 0.02), True),
    ],
    ids=["expected", "false alarm", "measured"],
)
def test_a_note_hides_a_false_alarm_but_no_measured_change(
    kind: Literal["expected", "false alarm"], compared: Any, is_shown: bool
) -> None:
    notes = Notes(((20, ChangeNote(commit_hash(20), kind, "The machine was moved")),))
    findings = analyse(history_of(noisy({20: 1.2}), compared, notes=notes))
    assert (len(findings.changes), len(findings.dismissed)) == (is_shown, not is_shown)


def test_the_newest_comparisons_say_what_is_detectable() -> None:
    compared: list[Any] = []
    for half, smallest, error in ((0.03, 0.03, 0.003), (0.002, 0.015, 0.0)):
        compared += (comparison(n, n + 1, 1.0, half) for n in range(5))
        findings = analyse(history_of(noisy({}), *compared))
        assert findings.detectable[MACHINE].middle == pytest.approx(smallest, abs=error)


def test_of_a_long_history_only_what_was_compared_and_neighbours_are_published() -> None:
    for commits, published in ((60, 60 * 59 // 2), (81, 81)):
        pairs = [*itertools.pairwise(range(commits)), (0, commits - 1)]
        sittings = (comparison(*pair, 1.0, at=at) for at, pair in enumerate(pairs))
        measured = analyse(history_of([1.0] * commits, *sittings)).compared[0]
        assert len(measured.all_pairs()) == published
