"""Releases compared interleaved: which ratio counts, chains of ratios, and A/A noise."""

import itertools
from collections.abc import Mapping

import pytest
from msgspec.structs import replace

from asv_watch.comparison import DAY, Comparison, Outcome, import_case
from asv_watch.judge.graph import MachineGraphs
from asv_watch.judge.release_history import (
    ReleaseHistory,
    failed_releases,
    release_histories,
    release_steps,
)
from asv_watch.versions.version import Release
from tests.judge.test_graph import LADDER, compared
from tests.making import commit_hash
from tests.planted_comparisons import AT, compared_commits, compared_releases, failed_release


def graphs_of(*sittings: list[Comparison], versions: Mapping[str, str] = {}) -> MachineGraphs:
    return MachineGraphs(list(itertools.chain(*sittings)), versions)


def history_of(*sittings: list[Comparison]) -> ReleaseHistory:
    [history] = release_histories({"m": graphs_of(*sittings)})
    return history


def relative(history: ReleaseHistory, case: str) -> dict[str, float]:
    return {release: ratio.ratio for release, ratio in history.relative.get(case, {}).items()}


def test_nothing_leads_to_a_release_beyond_a_missing_ratio() -> None:
    history = history_of(
        compared_releases("2.1.0", "2.2.0", {"a": 0.9}),
        compared_releases("2.2.0", "2.3.0", {"b": 0.9}, skipped="a"),
        compared_releases("2.3.0", "2.4.0", {"a": 0.9}),
    )
    assert list(relative(history, "a")) == ["2.3.0"]
    assert history.steps[1].unmeasured == {"a": (Outcome.SKIPPED, "this lacks it")}
    assert relative(history, "b") == {}, "not measured with the newest release"


def test_all_comparisons_count_and_the_most_certain_difference_comes_first() -> None:
    [step] = history_of(
        compared_releases("2.1.0", "2.2.0", {"a": 0.9, "b": 0.8, "same": 1.0}),
        compared_releases("2.1.0", "2.2.0", {"b": 0.81, "c": 0.7}, at=AT + 60),
        compared_releases("2.1.0", "2.2.0", {"a": 0.9, "c": 0.7}, at=AT + DAY),
    ).steps
    found = [(ratio.case, len(ratio.sittings), ratio.days) for ratio in step.findings]
    assert found == [("c", 2, 2), ("b", 2, 1), ("a", 2, 2)]
    assert set(step.times) == {"a", "b", "c", "same"}
    assert len(step.days) == 2


def test_noise_is_of_releases_against_themselves_without_imports() -> None:
    unchanged = {"a": 1.02, "b": 1 / 1.02, import_case("torch"): 2.0}
    null = compared_releases("2.2.0", "2.2.0", unchanged, half=0.05, kind="null")
    known = compared_releases("2.1.0", "2.2.0", {"a": 0.9})
    assert [ratio.case for ratio in history_of(known, null).null_ratios] == ["a", "b"]
    assert history_of(known).null_ratios == ()
    # The noise is that of the recipe by which releases were compared last.
    recipe: dict[str, float | str] = {"rounds": 100}
    again, other = (
        [replace(case, sitting=replace(case.sitting, recipe=recipe)) for case in sitting]
        for sitting in (known, compared_releases("2.2.0", "2.2.0", {"a": 1.002}, kind="null"))
    )
    assert history_of(known, other).null_ratios == ()
    [ratio] = history_of(known, again, null, other).null_ratios
    assert ratio.ratio == pytest.approx(1.002)


def test_a_release_that_cannot_be_installed_is_named_until_it_is_compared() -> None:
    known = compared_releases("2.1.0", "2.2.0", {"a": 0.9})
    failed = failed_release("2.2.0", "2.3.0", "no wheel")
    older = failed_release("2.2.0", "2.3.0", "no license", failed_before=True)
    later = compared_releases("2.2.0", "2.3.0", {"a": 1.0})
    newest = {Release("torch", "2.3.0"): "no wheel"}
    both = newest | {Release("torch", "2.2.0"): "no license"}
    assert failed_releases([*known, *failed], "torch") == newest
    assert failed_releases([*known, *failed], "numpy") == {}
    assert failed_releases([*known, *failed, *older], "torch") == both
    assert failed_releases([*known, *failed, *older, *later], "torch") == {}
    assert history_of(known, failed).releases == ("2.1.0", "2.2.0")


def test_releases_measured_at_once_are_compared_each_with_each_if_all_can_be_imported() -> None:
    ladder = compared(LADDER)
    steps = [(step.before, step.after) for step in history_of([ladder]).steps]
    assert steps == list(itertools.pairwise(LADDER))[::-1]
    pairs = set(itertools.combinations(LADDER, 2))
    assert set(release_steps(MachineGraphs([ladder]), "torch")) == pairs
    failed = replace(ladder, case=import_case("torch"), rounds=(), failed={1: "no wheel"})
    assert release_steps(MachineGraphs([failed]), "torch") == {}
    assert failed_releases([failed], "torch") == {Release("torch", "2.1.0"): "no wheel"}


def test_the_machine_with_the_newest_release_and_then_the_longest_history_stands_first() -> None:
    steps = ("2.1.0", "2.2.0"), ("2.2.0", "2.3.0")
    long = graphs_of(*(compared_releases(*ends, {"a": 0.9}) for ends in steps))
    for newest, first in (("2.3.0", "z-machine"), ("2.4.0", "a-machine")):
        short = graphs_of(compared_releases("2.2.0", newest, {"a": 0.9}))
        histories = release_histories({"a-machine": short, "z-machine": long})
        assert histories[0].machine == first


def test_versions_of_the_package_are_releases_too() -> None:
    versions = {commit_hash(2): "v0.9.0", commit_hash(5): "v0.10.0", commit_hash(8): "v1.0.0"}
    comparisons = [
        compared_releases("2.1.0", "2.2.0", {"a": 0.9}),
        compared_commits((5, 8), {"a": 1.2}, kind="compare"),
        compared_commits((2, 5), {"a": 0.8}, kind="compare"),
        compared_commits((2, 7), {"a": 0.3}, kind="compare"),  # commit 7 is no version
        compared_commits((8, 2), {"a": 1 / 0.96}, kind="compare"),  # the later one first
        compared_commits((5, 8), {"a": 0.3}, kind="planted"),
    ]
    package, torch = release_histories({"m": graphs_of(*comparisons, versions=versions)})
    assert (package.requirement, torch.requirement) == ("", "torch")
    assert package.releases == ("v0.9.0", "v0.10.0", "v1.0.0")
    expected = {"v0.9.0": 1 / (0.8 * 1.2), "v0.10.0": 1 / 1.2}
    assert relative(package, "a") == pytest.approx(expected)
    # Commits that are no versions join them too.
    del versions[commit_hash(5)]
    direct = compared_commits((2, 8), {"b": 1.1}, kind="compare")
    graphs = graphs_of(direct, *comparisons[1:3], versions=versions)
    [package] = release_histories({"m": graphs})
    assert package.releases == ("v0.9.0", "v1.0.0")
    assert relative(package, "a") == pytest.approx({"v0.9.0": 1 / 0.96})
    assert package.ratio("c", *package.releases) is None
