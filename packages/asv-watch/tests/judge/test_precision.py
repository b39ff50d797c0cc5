"""A commit compared with itself: the noise."""

import math
import re
from collections.abc import Iterable

import numpy as np
import pytest
from msgspec.structs import replace

from asv_watch.compare.calibrate import place_in_words
from asv_watch.comparison import Comparison, Ratio
from asv_watch.judge.graph import Detectable, MachineGraphs, newest_repeats, noise_in_words
from asv_watch.text import quantities
from tests.planted_comparisons import compared_commits


def test_noise_is_the_standard_deviation_of_all_logarithms_about_0() -> None:
    # 2 % in every round is certain, and above 1.5 %.
    ratios = [Ratio("x", "seconds", each, (each, each), 1.0, each) for each in (1.02, 0.99, 1.0)]
    noise = math.sqrt(sum(math.log(ratio.ratio) ** 2 for ratio in ratios) / 3)
    assert noise_in_words(ratios) == (
        f"{quantities.share(noise)} (standard deviation), 2.0 % at worst. "
        "1 of them counted as a change"
    )
    assert noise_in_words(ratios[1:]).endswith("1.0 % at worst. None of them counted as a change")


def test_the_place_that_differs_most_is_named_with_its_standard_errors() -> None:
    noise = np.random.default_rng(0).normal(0, 0.01, (40, 40, 3))
    planted = np.exp(noise + np.array([0, 0, -0.02]))
    cases = [
        Comparison(str(case), 0, rounds=tuple(map(tuple, rounds.tolist())))
        for case, rounds in enumerate(planted)
    ]
    words = place_in_words(cases, MachineGraphs([]), 3)
    size, errors = map(float, re.findall(r"\d+\.\d", words))
    assert words == (
        "Place 3 of 3 differs most from the mean of the others: "
        f"{size} % faster, {errors} standard errors."
    )
    assert size == pytest.approx(2, abs=0.1)
    assert errors == pytest.approx(0.02 / (0.01 * math.sqrt(1.5) / 40), rel=0.1)


def test_the_version_that_was_compared_with_itself_last_counts() -> None:
    [old], [new] = (compared_commits((c * 40, c * 40), {"x": 1.0}, kind="null") for c in "ab")
    other_recipe = replace(new, sitting=replace(new.sitting, recipe={"rounds": 1}))
    [planted] = compared_commits(("b" * 40, "b" * 40), {"x": 1.0}, kind="planted")
    assert newest_repeats([old, other_recipe, new, new, planted]) == [new, new]
    assert newest_repeats([planted]) == []


@pytest.mark.parametrize(
    ("sizes", "expected"), [((1, 2), 2), ((3,), 3), (range(1, 11), 9), (range(1, 12), 10)]
)
def test_the_90th_percentile_is_never_below_the_median(
    sizes: Iterable[int], expected: int
) -> None:
    detectable = Detectable({str(size): float(size) for size in sizes})
    assert detectable.ninth_decile == expected >= detectable.middle
