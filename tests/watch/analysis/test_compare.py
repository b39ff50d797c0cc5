"""Two environments at one commit: which commit, which verdict, and what is missing."""

from __future__ import annotations

import pytest

from tests.watch.making import MACHINE, commit_hash, figure, make_history, make_series
from torchspeed.errors import TorchspeedError
from torchspeed.watch.analysis.compare import Comparison, compare_environments
from torchspeed.watch.analysis.rule import Verdict
from torchspeed.watch.history.records import NEVER_RUN, History, Outcome, Run, Series

OLD, NEW = "torch2.14.1", "torch2.15.0"


def compare(
    before: list[float | Run], after: list[float | Run], noise: float | None = 0.01
) -> tuple[Comparison, ...]:
    history = make_history(
        [make_series(before, environment=OLD), make_series(after, environment=NEW)]
    )
    return compare_environments(history, MACHINE, OLD, NEW, lambda _: noise)


def test_a_case_is_compared_at_the_newest_commit_that_both_have_a_value_of() -> None:
    [comparison] = compare([1.0, 1.0, Run(Outcome.FAILED)], [1.0, 0.8, 0.7])
    assert comparison.commit == commit_hash(1)
    assert comparison.ratio == 0.8
    assert comparison.verdict is Verdict.BETTER


def test_a_change_of_the_code_is_not_taken_for_one_of_the_release() -> None:
    """The old release was not measured after the commit that halved the time."""
    [comparison] = compare([1.0, 1.0], [1.0, 1.0, 0.5, 0.5])
    assert comparison.commit == commit_hash(1)
    assert comparison.verdict is Verdict.SAME


def test_environments_without_a_common_commit_are_not_compared() -> None:
    history = make_history(
        [make_series({0: 1.0}, environment=OLD), make_series({1: 2.0}, environment=NEW)]
    )
    assert compare_environments(history, MACHINE, OLD, NEW, lambda _: 0.01) == ()


def test_without_a_known_noise_nothing_is_called_a_difference() -> None:
    """The spread within two runs does not say what the next run would be."""
    [comparison] = compare(
        [figure(1.0, interval=(1.0, 1.001))], [figure(1.2, interval=(1.2, 1.201))], noise=None
    )
    assert comparison.verdict is Verdict.SAME
    assert comparison.interval is None


def test_the_interval_leaves_one_out_where_there_is_a_difference() -> None:
    for after in (0.9, 0.97, 1.0, 1.03, 1.1):
        [comparison] = compare([1.0], [after])
        assert comparison.interval is not None
        low, high = comparison.interval
        assert comparison.judgement.differs == (not low <= 1 <= high)


@pytest.mark.parametrize(
    ("run", "reason"),
    [
        (Run(Outcome.FAILED, None, "out of memory"), "before: failed: out of memory"),
        (Run(Outcome.TIMED_OUT, None, "after 60 s"), "before: timed out: after 60 s"),
        (Run(Outcome.SKIPPED, None, "no CUDA"), "before: skipped: no CUDA"),
        (NEVER_RUN, "before: never run"),
    ],
)
def test_a_missing_value_says_why_it_is_missing(run: Run, reason: str) -> None:
    [comparison] = compare([run], [1.0])
    assert comparison.verdict is Verdict.MISSING
    assert comparison.judgement.reason == reason
    assert comparison.ratio is None
    [comparison] = compare([1.0], [run])
    assert comparison.judgement.reason == reason.replace("before", "after")


def test_unknown_names_are_one_clear_error() -> None:
    history = make_history([make_series([1.0])])

    def noise_of(_: Series) -> None:
        return None

    def compare_in(history: History, machine: str, before: str, after: str) -> None:
        compare_environments(history, machine, before, after, noise_of)

    with pytest.raises(TorchspeedError, match="no machine 'x' in the results: choose from ci-2c"):
        compare_in(history, "x", NEW, NEW)
    with pytest.raises(TorchspeedError, match=r"no environment 'y'.*torch2\.15\.0"):
        compare_in(history, MACHINE, "y", NEW)
    with pytest.raises(TorchspeedError, match="no environment 'y'"):
        compare_in(history, MACHINE, NEW, "y")
