"""Releases compared interleaved: which ratio counts, chains of ratios, and A/A noise."""

from __future__ import annotations

import math

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t

from asv_watch.judge.release_history import (
    ReleaseHistory,
    chain,
    failed_releases,
    relative_times,
    release_histories,
)
from asv_watch.records.comparisons import Kind, StoredComparison, import_case
from tests.asv_watch.making import commit_hash
from tests.asv_watch.planted_releases import DAY, ROUNDS, compared_releases, failed_release


def history_of(*comparisons: StoredComparison) -> ReleaseHistory:
    [history] = release_histories({"ci-2core": comparisons})
    return history


def test_releases_are_ordered_as_versions_and_only_neighbours_are_chained() -> None:
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
    assert chain(history, "b") == ()


@given(st.lists(st.tuples(st.floats(0.5, 2.0), st.floats(0.001, 0.2)), min_size=1, max_size=8))
def test_ratios_multiply_and_variances_add_up(steps: list[tuple[float, float]]) -> None:
    history = history_of(
        *(
            compared_releases(f"2.{minor}.0", f"2.{minor + 1}.0", {"a": ratio}, half=half)
            for minor, (ratio, half) in enumerate(steps)
        )
    )
    *_, before_newest, newest = links = chain(history, "a")
    oldest = links[0]
    assert (newest.ratio, newest.interval) == (1.0, (1.0, 1.0))
    assert oldest.ratio == pytest.approx(1 / math.prod(ratio for ratio, _ in steps))
    reach = math.log(oldest.interval[1] / oldest.ratio)
    assert math.log(oldest.ratio / oldest.interval[0]) == pytest.approx(reach)
    # The interval of a single step is that of its comparison; those of a sum are narrower than
    # half-widths added as if they were standard errors, because more rounds decide.
    last = history.steps[0].ratios["a"].interval
    assert before_newest.interval == pytest.approx((1 / last[1], 1 / last[0]))
    halves = [math.log1p(half) for _, half in steps]
    assert max(halves) * 0.6 <= reach <= math.hypot(*halves) * (1 + 1e-9)


def test_the_interval_of_equal_steps_is_students_of_all_their_rounds() -> None:
    steps = [
        compared_releases(f"2.{n}.0", f"2.{n + 1}.0", {"a": 1.0}, half=0.02) for n in range(4)
    ]
    error = math.log(1.02) / t.ppf(0.995, ROUNDS - 1)
    expected = t.ppf(0.995, 4 * (ROUNDS - 1)) * error * 2
    oldest = chain(history_of(*steps), "a")[0]
    assert math.log(oldest.interval[1]) == pytest.approx(expected)


def test_a_chain_ends_where_a_ratio_is_missing() -> None:
    history = history_of(
        compared_releases("2.1.0", "2.2.0", {"a": 0.9}),
        compared_releases("2.2.0", "2.3.0", {"b": 0.9}, skipped="a"),
        compared_releases("2.3.0", "2.4.0", {"a": 0.9}),
    )
    assert [link.release for link in chain(history, "a")] == ["2.3.0", "2.4.0"]
    assert "a" in history.steps[1].unmeasured
    assert chain(history, "b") == (), "not measured with the newest release"


def test_the_newest_ratio_of_a_case_counts_and_another_day_is_noticed() -> None:
    first = compared_releases("2.1.0", "2.2.0", {"a": 0.7, "b": 0.9})
    again = compared_releases("2.1.0", "2.2.0", {"a": 1.0}, at=first.header.at + DAY)
    [step] = history_of(first, again).steps
    assert {case: ratio.ratio for case, ratio in step.ratios.items()} == {"a": 1.0, "b": 0.9}


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
    histories = release_histories({"ci-2core": comparisons})
    assert [(history.requirement, history.releases) for history in histories] == [
        ("numpy", ("2.3.0", "2.4.0", "2.5.0")),
        ("torch", ("2.1.0", "2.2.0")),
    ]


def test_a_release_that_cannot_be_installed_is_named_until_it_is_compared() -> None:
    compared = compared_releases("2.1.0", "2.2.0", {"a": 0.9})
    failed = failed_release("2.2.0", "2.3.0", "no wheel")
    reasons = {"torch 2.3.0": "no wheel"}
    assert failed_releases([compared, failed], "torch") == reasons
    assert failed_releases([compared, failed], "numpy") == {}
    assert history_of(compared, failed).releases == ("2.1.0", "2.2.0")
    older = failed_release("2.2.0", "2.3.0", "no license", failed_before=True)
    both = reasons | {"torch 2.2.0": "no license"}
    assert failed_releases([compared, failed, older], "torch") == both
    later = compared_releases("2.2.0", "2.3.0", {"a": 1.0})
    assert failed_releases([compared, failed, older, later], "torch") == {}


def test_the_machine_that_measured_last_stands_first() -> None:
    earlier = [
        compared_releases("2.1.0", "2.2.0", {"a": 0.9}),
        compared_releases("2.2.0", "2.3.0", {"a": 0.9}),
    ]
    later = compared_releases("2.1.0", "2.2.0", {"a": 0.9}, at=earlier[0].header.at + DAY)
    histories = release_histories({"a-machine": earlier, "z-machine": [later]})
    assert [history.machine for history in histories] == ["z-machine", "a-machine"]


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
        compared_commits(8, 2, 0.3),  # from the later to the earlier one
        compared_commits(5, 8, 0.3, kind="planted"),
    ]
    package, torch = release_histories({"ci-2core": comparisons}, versions)
    assert (package.requirement, torch.requirement) == ("", "torch")
    assert package.releases == ("v0.9.0", "v0.10.0", "v1.0.0")
    ratios = [time.ratio for time in relative_times(package, "a")]
    assert ratios == pytest.approx([1 / (0.8 * 1.2), 1 / 1.2, 1])
