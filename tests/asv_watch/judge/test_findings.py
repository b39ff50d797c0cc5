"""What the analysis says about a history: changes, their state, cause and note, and levels."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec import structs

from asv_watch.judge.changes import Change, State
from asv_watch.judge.findings import Findings, analyse
from asv_watch.records.comparisons import CaseRatio, Header, StoredComparison, Version
from asv_watch.records.history import History
from asv_watch.records.notes import ChangeNote, Notes, Placed
from asv_watch.records.records import NEVER_RUN, Environment, Run
from asv_watch.records.run_columns import RunColumns
from asv_watch.records.series import Series
from asv_watch.statistics.change_points import find_steps
from asv_watch.statistics.ratio import estimate_ratio
from tests.asv_watch.making import (
    ENVIRONMENT,
    MACHINE,
    commit_hash,
    make_history,
    make_series,
    run_of,
)

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
    """The history with positions and a torch release, as the loader gives it."""
    positions = {commit.hash: commit.position for commit in history.commits}
    environments = {
        name: Environment(name, "3.11", {"torch": "2.15.0"}) for name in history.environments
    }
    added: dict[str, Any] = {"positions": positions, "environments": environments}
    return replace(history, **(added | changes))


def states(findings: Findings) -> list[tuple[int, State, int]]:
    return [(change.commit, change.state, change.runs) for change in findings.changes]


@pytest.mark.parametrize("runs", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("factor", [2.0, 3.0, 0.5])
def test_a_jump_is_reported_after_its_first_run(runs: int, factor: float) -> None:
    findings = analyse(history_of(noisy({40 - runs: factor})))
    [change] = findings.changes
    assert change.runs == runs
    assert (change.previous, change.commit) == (39 - runs, 40 - runs)
    assert change.state is (State.CONFIRMED if runs >= 5 else State.UNCONFIRMED)
    assert change.verdict == ("worse" if factor > 1 else "better")
    assert change.ratio == pytest.approx(factor, rel=0.03)
    assert change.multiple is not None
    assert change.multiple > 30


def test_only_a_confirmed_change_starts_a_level() -> None:
    for runs, levels in ((2, 1), (12, 2)):
        findings = analyse(history_of(noisy({40 - runs: 1.2})))
        assert [len(of_series) for of_series in findings.levels] == [levels]


def test_noise_alone_is_seldom_reported() -> None:
    """Normal noise: three deviations between the newest run and a level, in 3 of 1,000 series."""
    series = [
        make_series(noisy({}, commits=20, seed=seed), model=f"m{seed}") for seed in range(400)
    ]
    findings = analyse(complete(make_history(series)))
    assert len(findings.changes) <= 8


def test_eight_peak_memories_that_fell_are_reported_before_they_have_eight_values() -> None:
    """Their noise is known from the other memories of the machine."""
    young = [
        make_series([1.0, 1.002, 0.75], model=f"young{n}", metric="peak memory") for n in range(8)
    ]
    old = [
        make_series(noisy({}, commits=12, seed=n, noise=0.003), model=m, metric="peak memory")
        for n, m in enumerate(MODELS)
    ]
    findings = analyse(complete(make_history([*young, *old])))
    assert {change.series for change in findings.changes} == set(range(8))
    assert {change.state for change in findings.changes} == {State.UNCONFIRMED}


def test_an_exact_count_that_changes_is_reported_after_its_first_run() -> None:
    findings = analyse(history_of([1000.0] * 9 + [1050.0]))
    [change] = findings.changes
    assert (change.runs, change.state) == (1, State.UNCONFIRMED)
    assert findings.noise == (0.0,)


def test_without_known_noise_nothing_is_reported() -> None:
    assert analyse(history_of([1.0, 2.0])).changes == ()


def comparison(
    before: int, after: int, ratio: float, half_width: float = 0.005, **changes: Any
) -> dict[str, tuple[StoredComparison, ...]]:
    case = make_series([1.0], model=MODELS[0]).case.name
    torch = changes.pop("torch", "2.15.0")
    old = Version(commit_hash(before), changes.pop("reference_torch", torch), "0.29.2", "3.11")
    new = Version(commit_hash(after), torch, "0.29.2", "3.11")
    kind = changes.pop("kind", "confirm")
    header = Header(kind=kind, at=1, machine=MACHINE, before=old, after=new)
    interval = (ratio * (1 - half_width), ratio * (1 + half_width))
    measured = CaseRatio(case, 1, (ratio, ratio), ratio, interval, 1.0, ratio)
    return {MACHINE: (StoredComparison(Path("c.jsonl"), header, (measured,), ()),)}


@pytest.mark.parametrize(
    ("ratio", "half_width", "state"),
    [
        (1.19, 0.005, State.CONFIRMED),
        (1.001, 0.005, State.REFUTED),
        (0.9, 0.005, State.REFUTED),
        (1.1, 0.15, State.UNCONFIRMED),
    ],
    ids=["found", "not found", "opposite", "unsure"],
)
def test_an_interleaved_comparison_confirms_or_refutes_a_suspected_change(
    ratio: float, half_width: float, state: State
) -> None:
    values = noisy({38: 1.2})
    findings = analyse(history_of(values, comparisons=comparison(37, 38, ratio, half_width)))
    [change] = findings.changes
    assert change.state is state
    assert change.evidence is not None
    assert change.evidence.ratio == ratio
    assert len(findings.levels[0]) == (2 if state is State.CONFIRMED else 1)


@pytest.mark.parametrize(
    ("ratio", "state"), [(1.2, State.CONFIRMED), (1.0, State.REFUTED)], ids=["found", "not found"]
)
def test_two_comparisons_with_the_reference_are_evidence(ratio: float, state: State) -> None:
    """The reference is an old commit of another release, which is no level of the series."""
    [old] = comparison(5, 37, 0.8, kind="reference", reference_torch="2.14.1")[MACHINE]
    [new] = comparison(5, 38, 0.8 * ratio, kind="reference", reference_torch="2.14.1")[MACHINE]
    values = noisy({38: 1.2})
    [change] = analyse(history_of(values, comparisons={MACHINE: (old, new)})).changes
    assert change.state is state
    assert change.evidence is not None
    assert change.evidence.through_reference
    assert change.evidence.ratio == pytest.approx(ratio)
    low, high = change.evidence.interval
    assert high / low == pytest.approx(1 + 2 * 2**0.5 * 0.005, rel=1e-3)
    for alone in (old, new):
        [change] = analyse(history_of(values, comparisons={MACHINE: (alone,)})).changes
        assert change.state is State.UNCONFIRMED


def test_ratios_of_commits_further_apart_do_not_decide_which_change_they_show() -> None:
    """Commit 36 was 20 % slower as well, so the ratio of 38 to 35 says nothing about 38."""
    far, near, new = (
        comparison(5, commit, ratio, kind="reference", reference_torch="2.14.1")[MACHINE][0]
        for commit, ratio in ((35, 0.8), (37, 0.96), (38, 0.96))
    )
    values = noisy({38: 1.2})
    [change] = analyse(history_of(values, comparisons={MACHINE: (far, new)})).changes
    assert (change.state, change.evidence and change.evidence.wider) == (State.UNCONFIRMED, True)
    [change] = analyse(history_of(values, comparisons={MACHINE: (near, new)})).changes
    assert (change.state, change.evidence and change.evidence.wider) == (State.REFUTED, False)
    [direct] = comparison(37, 38, 1.2)[MACHINE]
    [change] = analyse(history_of(values, comparisons={MACHINE: (direct, near, new)})).changes
    assert (change.state, change.evidence and change.evidence.through_reference) == (
        *(State.CONFIRMED, False),
    )


def with_reference(changes: Mapping[int, float], commits: int = 12, seed: int = 1) -> History:
    """Runs with noise of 5 %, and ratios to the reference with noise of 0.3 %."""
    rng = np.random.default_rng(seed)
    stored = []
    for number, ratio in enumerate(noisy(changes, commits, seed, noise=0.003)):
        of_rounds = ratio * rng.lognormal(0.0, 0.006, 4)
        estimate, interval = estimate_ratio(of_rounds.tolist(), 0.006)
        [commit] = comparison(0, number, 1.0, kind="reference", reference_torch="2.14.1")[MACHINE]
        [case] = commit.ratios
        measured = CaseRatio(
            case.case, number, tuple(of_rounds.tolist()), estimate, interval, 1.0, estimate
        )
        stored.append(StoredComparison(commit.path, commit.header, (measured,), ()))
    values = noisy(changes, commits, seed + 100, noise=0.05)
    return history_of(values, comparisons={MACHINE: tuple(stored)})


def test_a_small_change_in_noisy_runs_is_found_by_its_ratio_to_the_reference() -> None:
    """5 % slower in a noise of 5 % between runs: one night is enough."""
    findings = [analyse(with_reference({11: 1.05}, seed=seed)).changes for seed in range(20)]
    assert sum([change.commit for change in changes] == [11] for changes in findings) >= 18
    confirmed = [c for changes in findings for c in changes if c.state is State.CONFIRMED]
    assert len(confirmed) >= 15
    assert all(c.ratio == pytest.approx(1.05, abs=0.02) for c in confirmed)
    [change] = analyse(with_reference({6: 1.05})).changes
    assert (change.commit, change.state, change.verdict) == (6, State.CONFIRMED, "worse")


def test_ratios_to_the_reference_without_a_change_report_none() -> None:
    findings = [analyse(with_reference({}, seed=seed)).changes for seed in range(40)]
    assert [c for changes in findings for c in changes if c.state is State.CONFIRMED] == []


def test_a_change_of_the_ratio_is_found_at_commits_without_a_value() -> None:
    history = with_reference({8: 1.05})
    [series] = history.series
    runs = {
        commit: run if number < 3 else NEVER_RUN
        for number, (commit, run) in enumerate(series.runs.items())
    }
    [change] = analyse(
        replace(history, series=(replace(series, columns=RunColumns.of(runs)),))
    ).changes
    assert (change.previous, change.commit, change.verdict) == (7, 8, "worse")
    assert change.state is State.CONFIRMED
    assert change.ratio == pytest.approx(1.05, abs=0.01)


@pytest.mark.parametrize(("spread", "reported"), [(0.001, 1), (0.05, 0)])
@pytest.mark.parametrize("newest", [11, 20], ids=["a jump", "a change point"])
def test_a_link_widens_the_error_of_a_change_across_it(
    spread: float, reported: int, newest: int
) -> None:
    """The reference is renewed at commit 10; by the link's ratio there is a change of 4 %."""
    rounds = [1.04 * math.exp(spread * at) for at in (-1.5, -0.5, 0.5, 1.5)]
    stored = []
    for commit in range(1, newest + 1):
        reference = 0 if commit <= 10 else 10
        ratios = rounds if commit == 10 else [0.997, 0.999, 1.001, 1.003]
        [row] = comparison(reference, commit, 1.0, kind="reference")[MACHINE]
        estimate, interval = estimate_ratio(ratios)
        measured = CaseRatio(
            row.ratios[0].case, commit, tuple(ratios), estimate, interval, 1.0, estimate
        )
        stored.append(StoredComparison(row.path, row.header, (measured,), ()))
    values = noisy({}, 25, noise=0.05)
    findings = analyse(history_of(values, comparisons={MACHINE: tuple(stored)}))
    assert len(findings.changes) == reported


def test_a_direct_comparison_outweighs_the_reference() -> None:
    [old] = comparison(5, 37, 1.0, kind="reference", reference_torch="2.14.1")[MACHINE]
    [new] = comparison(5, 38, 1.0, kind="reference", reference_torch="2.14.1")[MACHINE]
    [direct] = comparison(37, 38, 1.2)[MACHINE]
    history = history_of(noisy({38: 1.2}), comparisons={MACHINE: (direct, old, new)})
    assert states(analyse(history)) == [(38, State.CONFIRMED, 2)]


def test_a_change_point_that_an_interleaved_comparison_does_not_find_is_refuted() -> None:
    values = noisy({20: 1.2})
    assert states(analyse(history_of(values))) == [(20, State.CONFIRMED, 20)]
    findings = analyse(history_of(values, comparisons=comparison(15, 25, 0.999)))
    assert states(findings) == [(20, State.REFUTED, 20)]


@pytest.mark.parametrize(
    "other",
    [
        comparison(30, 35, 1.0),
        comparison(38, 39, 1.0),
        comparison(37, 38, 1.0, torch="2.14.1"),
    ],
    ids=["before it", "after it", "another release"],
)
def test_comparisons_that_are_not_across_a_change_say_nothing(
    other: dict[str, tuple[StoredComparison, ...]],
) -> None:
    [change] = analyse(history_of(noisy({38: 1.2}), comparisons=other)).changes
    assert change.state is State.UNCONFIRMED
    assert change.evidence is None


def with_recipes(values: Sequence[float], change_at: int) -> list[Run]:
    return [
        structs.replace(run_of(value), recipe=f"rounds={2 if number < change_at else 3}")
        for number, value in enumerate(values)
    ]


def test_a_change_of_recipe_is_an_event_and_no_change_of_speed() -> None:
    values = noisy({20: 1.2})
    assert analyse(history_of(values)).changes
    findings = analyse(history_of(with_recipes(values, 20)))
    assert findings.changes == ()
    assert [len(segments) for segments in findings.segments] == [2]
    assert [(level.first, level.last) for level in findings.levels[0]] == [(0, 19), (20, 39)]
    [event] = findings.events
    assert (event.commit, event.fact) == (commit_hash(20), "recipe rounds")
    assert (event.before, event.after) == ("2", "3")


def test_a_change_after_the_recipe_changed_is_still_found() -> None:
    findings = analyse(history_of(with_recipes(noisy({10: 1.3, 25: 1.2}), 10)))
    assert states(findings) == [(25, State.CONFIRMED, 15)]
    findings = analyse(history_of(with_recipes(noisy({10: 1.3, 39: 1.2}), 10)))
    assert states(findings) == [(39, State.UNCONFIRMED, 1)]


def test_nothing_is_compared_across_a_change_of_the_machine() -> None:
    values = noisy({39: 1.5})
    facts = {commit_hash(n): {"cpu": "new" if n >= 39 else "old"} for n in range(40)}
    findings = analyse(history_of(values, facts={(MACHINE, ENVIRONMENT): facts}))
    assert findings.changes == ()
    assert [event.fact for event in findings.events] == ["cpu"]


def cause(history: History) -> set[str]:
    return {change.cause for change in analyse(history).changes}


def test_a_change_of_one_model_is_the_codes_and_of_most_the_machines() -> None:
    quiet = [noisy({}, seed=seed) for seed in range(6)]
    slower = [noisy({20: 1.2}, seed=seed) for seed in range(6)]
    assert cause(history_of(slower[0], *quiet[1:])) == {"code"}
    assert cause(history_of(*slower)) == {"machine"}


def test_without_models_the_benchmarks_of_one_unit_vote_together() -> None:
    """In a project without models every function is a metric of its own."""
    series = []
    for number in range(6):
        entry = make_series(noisy({20: 1.2}, seed=number))
        labels = {"metric": f"function {number} time", "pass": ""}
        case = replace(entry.case, benchmark=f"suite.time_{number}", labels=labels)
        series.append(replace(entry, case=case))
    assert cause(complete(make_history(series))) == {"machine"}


def test_a_change_where_installed_software_changed_is_the_environments() -> None:
    facts = {commit_hash(n): {"python": "3.12" if n >= 20 else "3.11"} for n in range(40)}
    here = {"facts": {(MACHINE, ENVIRONMENT): facts}}
    assert cause(history_of(noisy({20: 1.2}), **here)) == {"environment"}
    assert cause(history_of(noisy({30: 1.2}), **here)) == {"code"}


def test_a_note_is_shown_with_the_changes_that_its_commit_caused() -> None:
    values = noisy({20: 1.2})
    runs: dict[int, float | Run] = dict(enumerate(values))
    del runs[18], runs[19]  # not measured: the change may be theirs

    def note(commit: int, **changes: Any) -> ChangeNote | None:
        noted = ChangeNote(commit_hash(commit), "expected", "The batch was doubled", **changes)
        history = make_history([make_series(runs, model=MODELS[0])])
        notes = Notes([Placed(commit, noted)])
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


def test_confirmed_changes_are_the_confirmed_change_points() -> None:
    for seed in range(10):
        history = history_of(noisy({12: 1.1, 25: 0.9}, seed=seed))
        findings = analyse(history)
        [segment] = findings.segments[0]
        steps = find_steps(segment.values)
        wanted = {int(segment.commits[step.position]) for step in steps if step.confirmed}
        confirmed: list[Change] = [c for c in findings.changes if c.state is State.CONFIRMED]
        assert {change.commit for change in confirmed} == wanted


def test_chance_and_jumps_are_told_apart_at_any_length() -> None:
    """Noise that is estimated from few values must not make changes of chance."""
    rng = np.random.default_rng(8)
    lengths = [length for length in (8, 10, 15, 20, 40, 100) for _ in range(120)]
    chance = [rng.lognormal(0.0, 0.02, length).tolist() for length in lengths]
    reported = {
        change.series
        for change in analyse(make_history([make_series(values) for values in chance])).changes
        if change.state is State.UNCONFIRMED
    }
    assert len(reported) <= 0.003 * len(chance)
    jumps = [[*values[:-1], values[-1] * math.exp(5 * 0.02 * 2**0.5)] for values in chance]
    changes = analyse(make_history([make_series(values) for values in jumps])).changes
    newest = {change.series for change in changes if change.runs == 1}
    shares = {
        length: np.mean([index in newest for index, of in enumerate(lengths) if of == length])
        for length in set(lengths)
    }
    assert all(share >= (0.9 if length >= 20 else 0.5) for length, share in shares.items()), shares


def test_a_history_without_values_has_no_findings() -> None:
    series: list[Series] = []
    assert analyse(complete(make_history(series))).changes == ()
