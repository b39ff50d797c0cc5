"""Releases compared interleaved: which ratio counts, chains of ratios, and A/A noise."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asv_watch.judge.graph import MachineGraphs
from asv_watch.judge.release_history import (
    ReleaseHistory,
    failed_releases,
    release_histories,
)
from asv_watch.records.comparisons import Kind, StoredComparison, import_case
from asv_watch.versions.releases import Release
from tests.making import commit_hash
from tests.planted_comparisons import DAY, compared_releases, failed_release


def histories_of(
    comparisons: Mapping[str, Sequence[StoredComparison]], versions: Mapping[str, str] = {}
) -> tuple[ReleaseHistory, ...]:
    graphs = {machine: MachineGraphs(stored) for machine, stored in comparisons.items()}
    return release_histories(comparisons, graphs, versions)


def history_of(*comparisons: StoredComparison) -> ReleaseHistory:
    [history] = histories_of({"ci-2core": comparisons})
    return history


def relative(history: ReleaseHistory, case: str) -> dict[str, float]:
    return {value.release: value.ratio for value in history.times.get(case, ())}


def test_releases_are_ordered_as_versions_and_only_neighbours_are_steps() -> None:
    history = history_of(
        compared_releases("2.9.1", "2.10.0", {"a": 0.9}),
        compared_releases("2.8.0", "2.9.1", {"a": 0.8}),
        compared_releases("2.8.0", "2.10.0", {"b": 0.5}),
    )
    assert history.releases == ("2.8.0", "2.9.1", "2.10.0")
    assert [(step.before, step.after) for step in history.steps] == [
        ("2.9.1", "2.10.0"),
        ("2.8.0", "2.9.1"),
    ]
    assert relative(history, "b") == pytest.approx({"2.8.0": 2.0, "2.10.0": 1.0})


@given(st.lists(st.tuples(st.floats(0.5, 2.0), st.floats(0.001, 0.2)), min_size=1, max_size=8))
def test_ratios_multiply_and_variances_add_up(steps: list[tuple[float, float]]) -> None:
    history = history_of(
        *(
            compared_releases(f"2.{n}.0", f"2.{n + 1}.0", {"a": ratio}, half=half, at=DAY * n)
            for n, (ratio, half) in enumerate(steps)
        )
    )
    oldest, *_, before_newest, newest = (history.times["a"][0], *history.times["a"])
    assert (newest.ratio, newest.interval) == (1.0, (1.0, 1.0))
    assert oldest.ratio == pytest.approx(1 / math.prod(ratio for ratio, _ in steps))
    reach = math.log(oldest.interval[1] / oldest.ratio)
    assert math.log(oldest.ratio / oldest.interval[0]) == pytest.approx(reach)
    last = history.steps[0].ratios["a"].interval
    assert before_newest.interval == pytest.approx((1 / last[1], 1 / last[0]))
    # Narrower than half-widths added in quadrature, because more rounds decide.
    halves = [
        math.log(step.ratios["a"].interval[1] / step.ratios["a"].ratio) for step in history.steps
    ]
    assert max(halves) * 0.6 <= reach <= math.hypot(*halves) * (1 + 1e-9)


def test_a_closing_comparison_narrows_what_a_chain_leaves_wide() -> None:
    chain = [
        compared_releases(f"2.{n}.0", f"2.{n + 1}.0", {"a": 1.0}, half=0.02, at=DAY * n)
        for n in range(9)
    ]
    closing = compared_releases("2.0.0", "2.9.0", {"a": 1.0}, half=0.02, at=DAY * 20)
    wide, narrow = (history_of(*of).times["a"][0] for of in (chain, [*chain, closing]))
    assert math.log(narrow.interval[1]) < math.log(wide.interval[1]) / 2


def test_nothing_leads_to_a_release_beyond_a_missing_ratio() -> None:
    history = history_of(
        compared_releases("2.1.0", "2.2.0", {"a": 0.9}),
        compared_releases("2.2.0", "2.3.0", {"b": 0.9}, skipped="a"),
        compared_releases("2.3.0", "2.4.0", {"a": 0.9}),
    )
    assert list(relative(history, "a")) == ["2.3.0", "2.4.0"]
    assert "a" in history.steps[1].unmeasured
    assert relative(history, "b") == {}, "not measured with the newest release"


def test_all_comparisons_of_two_releases_count_once_each_sitting() -> None:
    first = compared_releases("2.1.0", "2.2.0", {"a": 0.7, "b": 0.9})
    again = compared_releases("2.1.0", "2.2.0", {"a": 0.7}, at=first.header.at + DAY)
    [step] = history_of(first, again).steps
    assert {case: ratio.ratio for case, ratio in step.ratios.items()} == pytest.approx(
        {"a": 0.7, "b": 0.9}
    )
    a, b = (step.ratios[case] for case in "ab")
    assert math.log(a.interval[1] / a.ratio) < 0.8 * math.log(b.interval[1] / b.ratio)
    assert len(step.days) == 2


def test_noise_is_of_releases_against_themselves_without_imports() -> None:
    null = compared_releases(
        "2.2.0",
        "2.2.0",
        {"a": 1.02, "b": 1 / 1.02, import_case("torch"): 2.0},
        half=0.05,
        kind="null",
    )
    compared = compared_releases("2.1.0", "2.2.0", {"a": 0.9})
    assert [ratio.case for ratio in history_of(compared, null).null_ratios] == ["a", "b"]
    assert history_of(compared).null_ratios == ()


def test_noise_is_that_of_the_recipe_by_which_releases_were_compared_last() -> None:
    null = compared_releases("2.2.0", "2.2.0", {"a": 1.001}, kind="null")
    header = msgspec.structs.replace(null.header, recipe={"rounds": 100})
    other = msgspec.structs.replace(null, header=header)
    compared = compared_releases("2.1.0", "2.2.0", {"a": 0.9})
    assert history_of(compared, other).null_ratios == ()
    again = msgspec.structs.replace(
        compared, header=msgspec.structs.replace(compared.header, recipe={"rounds": 100})
    )
    assert history_of(compared, again, null, other).nulls == (other,)


def test_releases_of_each_requirement_have_a_history_of_their_own() -> None:
    comparisons = [
        compared_releases("2.1.0", "2.2.0", {"a": 0.9}),
        compared_releases("2.3.0", "2.4.0", {"a": 1.1}, requirement="numpy"),
        compared_releases("2.4.0", "2.5.0", {"a": 1.1}, requirement="numpy"),
    ]
    histories = histories_of({"ci-2core": comparisons})
    assert [(history.requirement, history.releases) for history in histories] == [
        ("numpy", ("2.3.0", "2.4.0", "2.5.0")),
        ("torch", ("2.1.0", "2.2.0")),
    ]


def test_a_release_that_cannot_be_installed_is_named_until_it_is_compared() -> None:
    compared = compared_releases("2.1.0", "2.2.0", {"a": 0.9})
    failed = failed_release("2.2.0", "2.3.0", "no wheel")
    reasons = {Release("torch", "2.3.0"): "no wheel"}
    assert failed_releases([compared, failed], "torch") == reasons
    assert failed_releases([compared, failed], "numpy") == {}
    assert history_of(compared, failed).releases == ("2.1.0", "2.2.0")
    older = failed_release("2.2.0", "2.3.0", "no license", failed_before=True)
    both = reasons | {Release("torch", "2.2.0"): "no license"}
    assert failed_releases([compared, failed, older], "torch") == both
    later = compared_releases("2.2.0", "2.3.0", {"a": 1.0})
    assert failed_releases([compared, failed, older, later], "torch") == {}


def test_the_machine_with_the_newest_release_and_then_the_longest_history_stands_first() -> None:
    long = [
        compared_releases("2.1.0", "2.2.0", {"a": 0.9}),
        compared_releases("2.2.0", "2.3.0", {"a": 0.9}),
    ]
    later = long[0].header.at + DAY
    short = compared_releases("2.2.0", "2.3.0", {"a": 0.9}, at=later)
    histories = histories_of({"a-machine": [short], "z-machine": long})
    assert [history.machine for history in histories] == ["z-machine", "a-machine"]
    newest = compared_releases("2.3.0", "2.4.0", {"a": 0.9}, at=later)
    histories = histories_of({"a-machine": [newest], "z-machine": long})
    assert [history.machine for history in histories] == ["a-machine", "z-machine"]


def compared_commits(
    before: int, after: int, ratio: float, kind: Kind = "compare"
) -> StoredComparison:
    commits = commit_hash(before), commit_hash(after)
    return compared_releases("2.2.0", "2.2.0", {"a": ratio}, kind=kind, commits=commits)


def test_versions_of_the_package_are_releases_too() -> None:
    versions = {commit_hash(2): "v0.9.0", commit_hash(5): "v0.10.0", commit_hash(8): "v1.0.0"}
    comparisons = [
        compared_releases("2.1.0", "2.2.0", {"a": 0.9}),
        compared_commits(5, 8, 1.2),
        compared_commits(2, 5, 0.8),
        compared_commits(2, 7, 0.3),  # commit 7 is no version
        compared_commits(8, 2, 1 / 0.96),  # from the later to the earlier one
        compared_commits(5, 8, 0.3, kind="planted"),
    ]
    package, torch = histories_of({"ci-2core": comparisons}, versions)
    assert (package.requirement, torch.requirement) == ("", "torch")
    assert package.releases == ("v0.9.0", "v0.10.0", "v1.0.0")
    expected = {"v0.9.0": 1 / (0.8 * 1.2), "v0.10.0": 1 / 1.2, "v1.0.0": 1}
    assert relative(package, "a") == pytest.approx(expected)
