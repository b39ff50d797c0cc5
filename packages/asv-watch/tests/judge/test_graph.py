"""Graphs of a machine: what sittings of a case say together, on how many days, how precisely."""

import itertools
import math
import re
from collections.abc import Mapping

import numpy as np
import pytest
from msgspec.structs import replace

from asv_watch.compare.calibrate import place_in_words
from asv_watch.comparison import DAY, Comparison, Ratio, Sitting
from asv_watch.judge.graph import Detectable, MachineGraphs, newest_repeats, noise_in_words
from asv_watch.text import quantities
from asv_watch.versions.version import Version
from tests.making import commit_hash
from tests.planted_comparisons import compared_commits

LADDER = {"2.0.0": 1.0, "2.1.0": 1.1, "2.2.0": 0.9, "2.3.0": 0.95}


def compared(levels: Mapping[str, float], at: int = 0, seed: int = 1) -> Comparison:
    """Twenty rounds, with 1 % of noise, of releases whose levels are known."""
    versions = tuple(Version(commit_hash(1), {"torch": name}, "3.11") for name in levels)
    noise = np.random.default_rng(seed).normal(0.0, 0.01, (20, len(levels)))
    noise -= noise.mean(axis=0)
    rounds = tuple(map(tuple, (np.exp(noise) * list(levels.values())).tolist()))
    sitting = Sitting(kind="release", at=at, machine="m", versions=versions)
    return Comparison("a", at, rounds=rounds, sitting=sitting)


def ratio_of(*comparisons: Comparison, ends: tuple[str, str] = ("2.0.0", "2.1.0")) -> Ratio:
    ratio = MachineGraphs(comparisons).releases("torch")["a"].ratio(*ends)
    assert ratio is not None
    return ratio


def half_width(ratio: Ratio) -> float:
    return math.log(ratio.interval[1] / ratio.interval[0]) / 2


@pytest.mark.parametrize(
    ("levels", "days", "days_showing", "needs_another"),
    [
        ({0: 1.03}, 1, 1, True),
        ({0: 0.97}, 1, 1, True),
        ({0: 0.952}, 1, 1, True),  # as a logarithm it is more than 5 %
        ({0: 1.04, 7200: 1.04}, 1, 1, True),
        ({0: 1.03, DAY: 1.03}, 2, 2, False),
        ({0: 1.035, DAY: 1.012, 2 * DAY: 1.035}, 3, 2, False),
        ({0: 1.08}, 1, 1, False),
    ],
)
def test_days_that_show_a_difference_are_counted(
    levels: dict[int, float], days: int, days_showing: int, needs_another: bool
) -> None:
    ratio = ratio_of(
        *(compared({"2.0.0": 1.0, "2.1.0": level}, at, seed=at) for at, level in levels.items())
    )
    assert ratio.differs
    assert (ratio.days, ratio.days_showing) == (days, days_showing)
    assert ratio.needs_second_day is needs_another


def test_a_day_may_show_a_difference_by_way_of_other_releases() -> None:
    direct = {"2.0.0": 1.0, "2.1.0": 1.04}
    through = {"2.0.0": 1.0, "2.2.0": 0.9}, {"2.2.0": 0.9, "2.1.0": 1.04}
    ratio = ratio_of(compared(direct), *(compared(levels, DAY, seed=2) for levels in through))
    assert (ratio.days, ratio.days_showing) == (1, 2)


def test_a_case_varies_as_its_own_repeats_show_and_a_new_one_as_all_of_them_do() -> None:
    apart = {"steady": 1.0, "unsteady": 1.05, "as unsteady": 1.05}
    machine = MachineGraphs(
        [
            replace(compared({"2.0.0": 1.0, "2.1.0": level}, day * DAY, seed=day), case=case)
            for case, factor in apart.items()
            for day, level in enumerate((1.0, factor) * 4)
        ]
    )
    between = {case: graph.between for case, graph in machine.releases("torch").items()}
    assert between["steady"] < 0.003
    assert 0.015 < between["unsteady"] == pytest.approx(between["as unsteady"], rel=0.2)
    assert machine.usual_between["time"] > 2 * MachineGraphs(()).usual_between["time"]


def test_what_other_sittings_contradict_is_named_for_each_further_version() -> None:
    odd = LADDER | {"2.3.0": 1.3}
    sittings = [compared(LADDER, day * DAY, seed=day) for day in range(8)]
    graph = MachineGraphs([*sittings, compared(odd, 9 * DAY)]).releases("torch")["a"]
    assert list(graph.contradictions()) == [False] * (9 * 3 - 1) + [True], "2.0.0 to 2.3.0"


def test_one_comparison_alone_has_the_interval_of_a_graph_that_holds_nothing_else() -> None:
    """Releases far apart in a sitting are compared as directly as neighbours."""
    comparison = compared(LADDER)
    widths = []
    for before, after in itertools.combinations(range(4), 2):
        ends = list(LADDER)[before], list(LADDER)[after]
        of_graph = ratio_of(comparison, ends=ends)
        alone = MachineGraphs([comparison]).alone(comparison, before, after)
        unknown = MachineGraphs(()).alone(comparison, before, after, least_spread=0.1)
        assert alone is not None
        assert unknown is not None
        assert (alone.ratio, *alone.interval) == (of_graph.ratio, *of_graph.interval)
        assert alone.ratio == pytest.approx(LADDER[ends[1]] / LADDER[ends[0]], rel=0.005)
        assert (of_graph.rounds, of_graph.days) == (20, 1)
        assert half_width(unknown) > 1.3 * half_width(alone), "few rounds may agree by luck"
        widths.append(half_width(alone))
    assert max(widths) < 1.3 * min(widths)


def test_a_comparison_in_which_two_sides_are_one_release_joins_nothing() -> None:
    comparison = compared(LADDER)
    first, _, *others = comparison.sitting.versions
    sitting = replace(comparison.sitting, versions=(first, first, *others))
    assert MachineGraphs([replace(comparison, sitting=sitting)]).releases("torch") == {}


def test_a_machine_without_repeats_varies_as_the_documents_say() -> None:
    graphs = MachineGraphs(())
    assert graphs.usual_between["time"] == pytest.approx(0.0053, abs=5e-5)
    assert graphs.usual_between["memory"] == pytest.approx(0.019, abs=5e-4)


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


@pytest.mark.parametrize(("count", "expected"), [(1, 1), (2, 2), (10, 9), (11, 10)])
def test_the_90th_percentile_is_never_below_the_median(count: int, expected: int) -> None:
    detectable = Detectable({str(size): float(size) for size in range(1, count + 1)})
    assert detectable.ninth_decile == expected >= detectable.middle
