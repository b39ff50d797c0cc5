"""A comparison of k versions: ratios, values and outcomes, and what counts as a difference."""

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from asv_watch.comparison import Comparison, Outcome, Rounds, Sitting
from asv_watch.statistics.rule import Verdict
from asv_watch.versions.version import Version
from tests.making import commit_hash
from tests.planted_comparisons import case_values

LEVELS = st.tuples(*[st.floats(0.5, 2.0)] * 3)


@given(st.lists(LEVELS, min_size=2, max_size=9), st.floats(0.01, 100))
def test_every_pair_has_a_ratio_which_has_no_unit_and_turns_over_with_its_sides(
    rounds: list[tuple[float, float, float]], factor: float
) -> None:
    comparison = Comparison("x", 9, rounds=tuple(rounds))
    scaled = replace(comparison, rounds=tuple(tuple(n * factor for n in r) for r in rounds))
    for before, after in itertools.combinations(range(3), 2):
        ratio, back = comparison.ratio(before, after), comparison.ratio(after, before)
        in_other_unit = scaled.ratio(before, after)
        assert ratio is not None
        assert back is not None
        assert in_other_unit is not None
        assert ratio.interval[0] <= ratio.ratio <= ratio.interval[1]
        assert ratio.ratio == pytest.approx(1 / back.ratio) == pytest.approx(in_other_unit.ratio)
        assert ratio.interval == pytest.approx([1 / end for end in reversed(back.interval)])
        assert (ratio.before, ratio.after) == (comparison.value(before), comparison.value(after))
        assert ratio.rounds == len(rounds)


def test_a_version_without_numbers_says_why_and_leaves_the_others_their_ratios() -> None:
    partly = Comparison(
        "x",
        9,
        rounds=((1.0, 2.0, None), (1.5, 2.2, None), (1.4, 2.1, None)),
        skipped={3: "no device"},
        failed={2: "too late"},
        late=(2,),
    )
    assert [partly.outcome(version) for version in range(4)] == [
        (Outcome.OK, ""),
        (Outcome.OK, ""),
        (Outcome.TIMED_OUT, "too late"),
        (Outcome.SKIPPED, "no device"),
    ]
    assert partly.value(2) is None
    assert partly.measured_sides == [0, 1]
    assert partly.ratio(0, 2) is None
    assert partly.why_no_ratio(0, 2) == (Outcome.TIMED_OUT, "too late")
    failed_later = replace(partly, late=())
    assert failed_later.why_no_ratio(3, 2) == (Outcome.FAILED, "too late"), "not the skip"


@pytest.mark.parametrize(
    ("rounds", "reason"),
    [
        (((1.0, 2.0),), "fewer than two rounds"),
        (((1.0, None), (1.0, 2.0)), "fewer than two rounds"),
        (((0.0, 2.0), (1.0, 2.0)), "values of zero or below, or too far apart, have no ratio"),
        (((1e-300, 1e299),) * 2, "values of zero or below, or too far apart, have no ratio"),
    ],
)
def test_numbers_without_a_ratio_say_why(rounds: Rounds, reason: str) -> None:
    comparison = Comparison("x", 9, rounds=rounds)
    assert comparison.ratio(0, 1) is None
    assert comparison.star(0.0) is None
    assert reason in comparison.why_no_ratio(0, 1)[1]


def test_added_rounds_count_whatever_was_asked_before() -> None:
    first = Comparison("x", 9, rounds=((1.0, 2.0), (1.0, 2.1)))
    stars = [first.star(0.0), first.with_rounds_of(first).star(0.0)]
    assert [star.freedom for star in stars if star] == [1, 3]


@pytest.mark.parametrize(
    ("before", "after", "ratio", "verdict"),
    [
        (1000, 1001, 1.001, Verdict.WORSE),
        (1000, 1000, 1.0, Verdict.SAME),
        (0, 3, math.inf, Verdict.WORSE),
        (3, 0, 0.0, Verdict.BETTER),
        (-5, 3, math.inf, Verdict.WORSE),
        (0, 0, 1.0, Verdict.SAME),
    ],
)
def test_any_other_count_differs(before: int, after: int, ratio: float, verdict: Verdict) -> None:
    found = case_values("a", before, after, exact=True).ratio(0, 1)
    assert found is not None
    assert (found.ratio, found.interval, found.verdict) == (ratio, (ratio, ratio), verdict)
    assert not found.needs_second_day


@pytest.mark.parametrize(
    ("before", "after", "requirement"),
    [
        ({"numpy": "2.4", "scipy": "1.15"}, {"numpy": "2.4", "scipy": "1.16"}, "scipy"),
        ({"torch": "2.14", "torchvision": "1"}, {"torch": "2.15", "torchvision": "2"}, "torch"),
        ({"numpy": "2.4"}, {"numpy": "2.4", "scipy": "1.16"}, ""),
    ],
)
def test_a_sitting_names_the_requirement_whose_releases_were_compared(
    before: dict[str, str], after: dict[str, str], requirement: str
) -> None:
    versions = tuple(Version(commit_hash(1), named, "3.11") for named in (before, after))
    assert Sitting(kind="release", at=1, machine="m", versions=versions).requirement == requirement


def test_versions_are_equal_where_commit_main_requirement_and_python_are() -> None:
    first = Version(commit_hash(1), {"torch": "2.15.0"}, "3.11")
    more = Version(first.commit, {"torch": "2.15.0", "scikit-learn": "1.9.1"}, "3.11")
    assert (first, hash(first), str(first.release)) == (more, hash(more), "torch 2.15.0")
    assert not first != more  # noqa: SIM202 - `!=` is another function
    others = (commit_hash(2), "2.15.0"), (first.commit, "2.14.1")
    assert first not in [Version(commit, {"torch": release}, "3.11") for commit, release in others]
