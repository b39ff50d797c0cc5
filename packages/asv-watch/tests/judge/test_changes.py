"""What the analysis says about a history: changes, what they rest on, their cause and note.

Any two commits that comparisons join have a ratio, by all ways between them.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from asv_watch.comparison import Comparison
from asv_watch.judge.changes import MeasuredCommits, analyse
from asv_watch.judge.graph import MachineGraphs
from asv_watch.records.history import History, Series
from asv_watch.records.notes import ChangeNote, Notes
from asv_watch.records.records import NEVER_RUN, Environment, Run
from asv_watch.versions.version import Release
from tests.making import (
    ENVIRONMENT,
    MACHINE,
    commit_hash,
    make_history,
    make_series,
    run_of,
)
from tests.planted_comparisons import compared_commits

MODELS = ("darnn", "dsanet", "lstnet", "tpa_lstm", "lenet5", "flux_cnn")


def noisy(
    changes: Mapping[int, float], commits: int = 40, seed: int = 3, noise: float = 0.01
) -> list[float]:
    """Values with noise that are multiplied by a factor from a commit on."""
    values = np.random.default_rng(seed).lognormal(0.0, noise, commits)
    for commit, factor in changes.items():
        values[commit:] *= factor
    return [float(value) for value in values]


def history_of(*values: Sequence[float | Run], **changes: Any) -> History:
    series = [
        make_series(of_model, model=model) for model, of_model in zip(MODELS, values, strict=False)
    ]
    return complete(make_history(series), **changes)


def complete(history: History, **changes: Any) -> History:
    """The history with a torch release, as the loader gives it."""
    environments = {
        name: Environment(name, "3.11", {"torch": "2.15.0"}) for name in history.environments
    }
    added: dict[str, Any] = {"environments": environments}
    return replace(history, **(added | changes))


def found(history: History) -> list[tuple[int, int, str]]:
    """The changes of a history, oldest first: commits before and after, and what they rest on."""
    changes = [(c.previous, c.commit, c.state) for c in analyse(history).changes]
    return sorted(changes)


@pytest.mark.parametrize(("runs", "factor"), [(1, 2.0), (20, 0.5)])
def test_separate_runs_raise_a_suspicion_from_the_first_one_on(runs: int, factor: float) -> None:
    [change] = analyse(history_of(noisy({40 - runs: factor}))).changes
    assert (change.previous, change.commit) == (39 - runs, 40 - runs)
    assert change.state == "suspected"
    assert change.interval is None
    assert change.verdict == ("worse" if factor > 1 else "better")
    assert change.ratio == pytest.approx(factor, rel=0.03)


def test_noise_alone_is_seldom_suspected() -> None:
    series = [
        make_series(noisy({}, commits=20, seed=seed), model=f"m{seed}") for seed in range(400)
    ]
    assert len(analyse(complete(make_history(series))).changes) <= 8


def test_exact_values_differ_or_do_not_and_are_a_list_of_their_own() -> None:
    history = history_of([1000.0, 1000.0, 1001.0, 1001.0, 0.0])
    [name] = history.benchmarks
    exact = structs.replace(history.benchmarks[name], type="track", exact=True)
    findings = analyse(replace(history, benchmarks={name: exact}))
    assert findings.changes == ()
    changes = [(c.kind, c.commit, c.values, c.ratio) for c in findings.exact_changes]
    assert changes == [
        ("exact", 4, (1001.0, 0.0), None),
        ("exact", 2, (1000.0, 1001.0), 1.001),
    ]


def test_a_metric_that_no_comparison_can_measure_has_no_changes() -> None:
    history = history_of(noisy({20: 2.0}))
    tracked = {
        name: structs.replace(benchmark, type="track")
        for name, benchmark in history.benchmarks.items()
    }
    assert analyse(replace(history, benchmarks=tracked)).changes == ()


def comparison(
    before: int, after: int, ratio: float, half: float = 0.005, **others: Any
) -> dict[str, tuple[Comparison, ...]]:
    """A comparison of two commits by their numbers, with other arguments of `compared_commits`."""
    case = make_series([1.0], model=MODELS[0]).case.name
    commits = commit_hash(before), commit_hash(after)
    compared = compared_commits(commits, {case: ratio}, half=half, **({"at": 1} | others))
    return {MACHINE: tuple(compared)}


def together(*compared: dict[str, tuple[Comparison, ...]]) -> Any:
    return {MACHINE: tuple(stored for of in compared for stored in of[MACHINE])}


@pytest.mark.parametrize("ratio", [1.19, 0.9])
def test_a_comparison_of_its_two_commits_measures_a_suspicion(ratio: float) -> None:
    history = history_of(noisy({38: 1.2}), comparisons=comparison(37, 38, ratio))
    assert found(history) == [(37, 38, "measured")]
    [change] = analyse(history).changes
    assert change.ratio == pytest.approx(ratio)
    low, high = change.interval or (1.0, 1.0)
    assert low < ratio / 1.005 < ratio * 1.005 < high, "other sittings"
    before, after = change.values
    assert after / before == pytest.approx(ratio)
    assert before * after == pytest.approx(0.01**2 * ratio, rel=1e-4), "their level"
    assert change.verdict == ("worse" if ratio > 1 else "better")


def test_a_measured_change_needs_no_run_that_shows_it() -> None:
    history = history_of(noisy({}), comparisons=comparison(12, 13, 1.03))
    assert found(history) == [(12, 13, "measured")]
    missing = history_of([run_of(1.0), *[NEVER_RUN] * 39], comparisons=comparison(12, 13, 1.03))
    assert found(missing) == [(12, 13, "measured")]


def measured(*compared: dict[str, tuple[Comparison, ...]]) -> list[tuple[int, int, Any]]:
    """The measured changes that comparisons show, oldest first: commits and ratio."""
    changes = analyse(history_of(noisy({}), comparisons=together(*compared))).changes
    return sorted((c.previous, c.commit, c.ratio or 0.0) for c in changes if c.is_measured)


HOUR = 3600


def test_neighbours_that_were_compared_with_others_have_a_ratio() -> None:
    """The reference is an old commit of another release, which is no level of the series."""
    points = [
        comparison(5, commit, ratio, kind="reference", before_torch="2.14.1", at=HOUR * commit)
        for commit, ratio in ((20, 1.049), (25, 0.999), (30, 0.389))
    ]
    changes = analyse(history_of(noisy({}), comparisons=together(*points))).changes
    assert [(c.previous, c.commit, c.through) for c in changes] == [
        (25, 30, "other commits"),
        (20, 25, "other commits"),
    ]
    assert [c.ratio for c in changes] == pytest.approx([0.389 / 0.999, 0.999 / 1.049])
    widths = [np.log((c.interval or (1, 1))[1] / (c.ratio or 1)) for c in changes]
    [direct] = analyse(history_of(noisy({}), comparisons=comparison(25, 30, 0.389))).changes
    narrow = np.log((direct.interval or (1, 1))[1] / 0.389)
    assert widths == pytest.approx([2**0.5 * narrow] * 2, rel=0.01), "variances add up"


def test_a_reference_in_the_middle_of_the_branch_is_the_earlier_or_the_later_side() -> None:
    points = [
        comparison(20, commit, ratio, kind="reference")
        for commit, ratio in ((10, 1.25), (30, 0.9))
    ]
    assert measured(*points) == [(10, 20, pytest.approx(0.8)), (20, 30, pytest.approx(0.9))]


def test_several_changes_close_together_stay_several() -> None:
    """Halves of a range that was bisected count instead of the whole."""
    parts = comparison(10, 18, 1.32), comparison(10, 14, 1.1), comparison(14, 18, 1.2)
    assert measured(*parts) == [(10, 14, pytest.approx(1.1)), (14, 18, pytest.approx(1.2))]


def test_parts_without_a_change_leave_it_to_the_rest() -> None:
    parts = comparison(10, 18, 1.2), comparison(10, 14, 1.0), comparison(16, 18, 1.0)
    assert measured(*parts) == [(14, 16, pytest.approx(1.2))]
    assert measured(comparison(10, 18, 1.32), parts[1]) == [(14, 18, pytest.approx(1.32))]


@pytest.mark.parametrize(
    ("other", "is_suspected"),
    [
        (comparison(37, 38, 1.001), False),
        (comparison(30, 35, 1.0), False),
        (comparison(37, 38, 1.0, torch="2.14.1"), True),
        (comparison(37, 38, 1.0, kind="planted"), True),
    ],
    ids=["of its commits", "of other commits", "of another release", "planted"],
)
def test_only_a_series_that_nobody_compared_is_suspected(
    other: dict[str, tuple[Comparison, ...]], is_suspected: bool
) -> None:
    changes = found(history_of(noisy({38: 1.2}), comparisons=other))
    assert changes == ([(37, 38, "suspected")] if is_suspected else [])


def test_nothing_is_suspected_across_a_change_of_the_machine() -> None:
    facts = {commit_hash(n): {"cpu": "new" if n >= 39 else "old"} for n in range(40)}
    findings = analyse(history_of(noisy({39: 1.5}), facts={(MACHINE, ENVIRONMENT): facts}))
    assert findings.changes == ()
    assert [event.fact for event in findings.events] == ["cpu"]


def cause(history: History) -> set[str]:
    return {change.cause for change in analyse(history).changes}


def test_runs_that_changed_with_installed_software_are_suspected_of_that() -> None:
    facts = {commit_hash(n): {"python": "3.12" if n >= 20 else "3.11"} for n in range(40)}
    here: dict[str, Any] = {"facts": {(MACHINE, ENVIRONMENT): facts}}
    assert cause(history_of(noisy({20: 1.2}), **here)) == {"environment"}
    measured = comparison(19, 20, 1.2)  # both sides with the same software
    assert cause(history_of(noisy({20: 1.2}), **here, comparisons=measured)) == {"code"}


def test_a_note_is_shown_with_the_changes_that_its_commit_caused() -> None:
    values = noisy({20: 1.2})
    runs: dict[int, float | Run] = dict(enumerate(values))
    del runs[18], runs[19]  # not measured: the change may be theirs

    def note(commit: int, **changes: Any) -> ChangeNote | None:
        noted = ChangeNote(commit_hash(commit), "expected", "The batch was doubled", **changes)
        history = make_history([make_series(runs, model=MODELS[0])])
        notes = Notes(((commit, noted),))
        [change] = analyse(complete(history, notes=notes)).changes
        return change.note

    assert [note(commit) is not None for commit in (17, 18, 19, 20, 21)] == [
        False,
        True,
        True,
        True,
        False,
    ]
    assert note(19, cases=("*darnn*",)) is not None
    assert note(19, cases=("*dsanet*",)) is None
    assert note(19, machine="another") is None
    written = [note(19), note(19, by="Ann")]
    assert [each.in_words for each in written if each] == [
        "expected: The batch was doubled",
        "expected, by Ann: The batch was doubled",
    ]


def test_a_note_hides_a_false_alarm_but_no_measured_change() -> None:
    def judged(kind: Literal["expected", "false alarm"], *compared: Any) -> tuple[int, int]:
        note = ChangeNote(commit_hash(20), kind, "The machine was moved")
        history = history_of(
            noisy({20: 1.2}), notes=Notes(((20, note),)), comparisons=together(*compared)
        )
        findings = analyse(history)
        return len(findings.changes), len(findings.dismissed)

    assert judged("expected") == (1, 0)
    assert judged("false alarm") == (0, 1)
    assert judged("false alarm", comparison(19, 20, 1.2, 0.02)) == (1, 0)


def test_the_smallest_detectable_change_is_what_the_newest_comparisons_show() -> None:
    compared = together(*(comparison(n, n + 1, 1.0, 0.03) for n in range(5)))
    assert analyse(history_of(noisy({}), comparisons=compared)).detectable[
        MACHINE
    ].middle == pytest.approx(0.03, abs=0.003)
    precise = together(compared, *(comparison(n, n + 1, 1.0, 0.002) for n in range(5)))
    assert analyse(history_of(noisy({}), comparisons=precise)).detectable[MACHINE].middle == 0.015


def test_a_history_without_values_has_no_findings() -> None:
    series: list[Series] = []
    assert analyse(complete(make_history(series))).changes == ()


POSITIONS = {commit_hash(number): number for number in range(100)}
Pair = tuple[int, int, float]


def commits_of(*pairs: Pair) -> MeasuredCommits:
    """Commits that were compared, each pair in a sitting of its own."""
    sittings = (
        compared_commits((commit_hash(before), commit_hash(after)), {"a": ratio}, at=number)
        for number, (before, after, ratio) in enumerate(pairs)
    )
    graph = MachineGraphs(list(itertools.chain(*sittings))).commits("a")
    assert graph is not None
    return MeasuredCommits(graph, POSITIONS, Release("torch", "2.15.0"), "3.11")


@given(st.lists(st.floats(0.5, 2), min_size=1, max_size=10))
def test_ratios_of_a_chain_multiply(ratios: list[float]) -> None:
    found = commits_of(*((n, n + 1, ratio) for n, ratio in enumerate(ratios)))
    pairs = found.all_pairs()
    count = len(ratios) + 1
    assert len(pairs) == count * (count - 1) // 2
    for (before, after), measured in pairs.items():
        assert measured.ratio == pytest.approx(math.prod(ratios[before:after]))
        assert measured.interval[0] < measured.ratio < measured.interval[1]
        assert len(measured.sittings) == (after == before + 1)


def test_nothing_is_said_of_two_commits_that_no_comparison_joins() -> None:
    found = commits_of((1, 2, 2.0), (5, 6, 0.5), (6, 7, 1.0))
    assert sorted(found.parts) == [(1, 2), (5, 6, 7)]
    assert found.ratio(2, 5) is None


def test_of_a_long_history_only_what_was_compared_and_neighbours_are_published() -> None:
    found = commits_of(*((n, n + 1, 1.0) for n in range(80)), (0, 80, 1.0))
    assert len(found.all_pairs()) == 81
