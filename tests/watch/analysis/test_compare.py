from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.watch.calibrations import calibration
from tests.watch.making import (
    MACHINE,
    commit_hash,
    figure,
    make_commits,
    make_history,
    make_series,
)
from torchspeed.errors import TorchspeedError
from torchspeed.watch.analysis.compare import (
    Verdict,
    compare_environments,
    compare_machines,
    compare_revisions,
    resolve_commit,
)
from torchspeed.watch.analysis.overview import summarise
from torchspeed.watch.history.calibrations import CaseNoise
from torchspeed.watch.history.records import NEVER_RUN, Commit, Outcome, Run
from torchspeed.watch.history.reported_value import figure_of


def sampled(rng, level, spread=0.02, count=20):
    samples = tuple((level * rng.lognormal(0.0, spread, count)).tolist())
    found = figure_of(samples)
    return figure(found.value, samples=samples, interval=found.interval)


def interval(value, half):
    return figure(value, interval=(value - half, value + half))


def compare_two(before, after, **options):
    options = {"higher_is_better": False} | options
    series = make_series([before, after], higher_is_better=options.pop("higher_is_better"))
    [comparison] = compare_revisions(
        make_history([series]), commit_hash(0), commit_hash(1), **options
    )
    return comparison


def test_a_clear_slowdown_is_worse():
    rng = np.random.default_rng(0)
    comparison = compare_two(sampled(rng, 1.0), sampled(rng, 1.1))
    assert comparison.verdict is Verdict.WORSE
    assert comparison.significant
    assert comparison.p < 0.01
    assert comparison.interval[0] < 1.1 < comparison.interval[1]
    assert "rank test" in comparison.why
    assert comparison.improvement == pytest.approx(1 / comparison.ratio)


def test_the_same_figures_are_better_where_higher_is():
    rng = np.random.default_rng(0)
    before, after = sampled(rng, 1.0), sampled(rng, 1.1)
    comparison = compare_two(before, after, higher_is_better=True)
    assert comparison.verdict is Verdict.BETTER
    assert comparison.improvement == comparison.ratio


def test_sides_swapped_the_verdict_swaps():
    rng = np.random.default_rng(0)
    before, after = sampled(rng, 1.0), sampled(rng, 1.1)
    there, back = compare_two(before, after), compare_two(after, before)
    assert back.verdict is Verdict.BETTER
    assert back.ratio == pytest.approx(1 / there.ratio)
    assert back.p == pytest.approx(there.p)


def test_a_small_change_is_the_same_however_sure():
    rng = np.random.default_rng(0)
    before, after = sampled(rng, 1.0, 0.001), sampled(rng, 1.01, 0.001)
    comparison = compare_two(before, after)
    assert comparison.p < 1e-6
    assert comparison.verdict is Verdict.SAME
    assert "1.5%" in comparison.why
    assert compare_two(before, after, minimum_effect=0.005).verdict is Verdict.WORSE


def test_a_change_within_the_samples_spread_is_the_same():
    rng = np.random.default_rng(5)
    comparison = compare_two(sampled(rng, 1.0, 0.2), sampled(rng, 1.03, 0.2))
    assert comparison.verdict is Verdict.SAME
    assert comparison.p > 0.01


def test_a_change_within_the_noise_between_runs_is_the_same():
    rng = np.random.default_rng(1)
    # Runs differ by 5 %, samples within a run by 0.1 %.
    levels = rng.lognormal(0.0, 0.05, 40)
    levels[-2:] = 1.0, 1.08
    series = make_series([sampled(rng, level, 0.001) for level in levels])
    history = make_history([series])
    [comparison] = compare_revisions(history, commit_hash(38), commit_hash(39))
    assert comparison.p < 1e-6
    assert comparison.verdict is Verdict.SAME
    assert "between runs" in comparison.why


def test_on_a_calibrated_machine_the_noise_between_runs_counts_from_the_first_commit_on():
    rng = np.random.default_rng(1)
    series = make_series([sampled(rng, 1.0, 0.001), sampled(rng, 1.04, 0.001)])
    history = make_history([series])

    def verdict(noise):
        case = CaseNoise(series.case.name, (1.0, 1.0), 20, noise, noise, None)
        calibrated = replace(history, calibrations={MACHINE: calibration(cases=(case,))})
        [comparison] = compare_revisions(calibrated, commit_hash(0), commit_hash(1))
        return comparison.verdict

    assert compare_revisions(history, commit_hash(0), commit_hash(1))[0].verdict is Verdict.WORSE
    assert verdict(0.01) is Verdict.WORSE
    assert verdict(0.02) is Verdict.SAME


def test_without_samples_intervals_decide():
    apart = compare_two(interval(1.0, 0.01), interval(1.05, 0.01))
    assert (apart.verdict, apart.p, apart.why) == (Verdict.WORSE, None, "intervals apart")
    assert apart.interval == pytest.approx(
        (1.05 * math.exp(-0.0138), 1.05 * math.exp(0.0138)), rel=1e-3
    )
    overlap = compare_two(interval(1.0, 0.03), interval(1.05, 0.03))
    assert (overlap.verdict, overlap.why) == (Verdict.SAME, "intervals overlap")


def test_a_bare_figure_needs_the_noise_of_its_series():
    short = compare_two(1.0, 2.0)
    assert short.verdict is Verdict.SAME
    assert "nothing can be said" in short.why
    assert short.ratio == 2
    series = make_series([100.0 + number % 2 for number in range(20)] + [100.0, 104.0, 100.0])
    history = make_history([series])
    [clear] = compare_revisions(history, commit_hash(20), commit_hash(21))
    assert clear.verdict is Verdict.SAME
    [clear] = compare_revisions(
        make_history([make_series([100.0] * 20 + [102.0])]), commit_hash(19), commit_hash(20)
    )
    assert clear.verdict is Verdict.WORSE
    assert "beyond the noise" in clear.why


@pytest.mark.parametrize(
    ("run", "said"),
    [
        (Run(Outcome.FAILED, None, "out of memory"), "before: failed: out of memory"),
        (Run(Outcome.TIMED_OUT, None, "after 60 s"), "before: timed out: after 60 s"),
        (Run(Outcome.SKIPPED, None, "no CUDA"), "before: skipped: no CUDA"),
        (NEVER_RUN, "before: never run"),
    ],
)
def test_a_side_without_a_figure_is_missing_and_says_why(run, said):
    comparison = compare_two(run, 1.0)
    assert comparison.verdict is Verdict.MISSING
    assert comparison.why == said
    assert comparison.ratio is None
    assert comparison.improvement is None
    assert compare_two(1.0, run).why == said.replace("before", "after")


def test_a_commit_not_measured_in_an_environment_is_never_run():
    history = make_history([make_series({0: 1.0}), make_series({0: 1.0, 1: 1.0}, model="x")])
    comparisons = compare_revisions(history, commit_hash(0), commit_hash(1))
    assert [c.verdict for c in comparisons] == [Verdict.MISSING, Verdict.SAME]
    assert comparisons[0].after is NEVER_RUN


@pytest.mark.parametrize("value", [0.0, -1.0])
def test_what_is_not_positive_has_no_ratio(value):
    comparison = compare_two(value, 1.0)
    assert comparison.verdict is Verdict.SAME
    assert comparison.ratio is None
    assert "not positive" in comparison.why


def test_p_is_adjusted_for_the_number_of_cases():
    before = tuple(1.0 + place / 100 for place in range(8))
    after = tuple(value + 0.0651 for value in before)
    doubtful = [figure(figure_of(samples).value, samples=samples) for samples in (before, after)]
    alone = compare_two(*doubtful)
    assert 0.0001 < alone.p <= 0.01
    assert alone.verdict is Verdict.WORSE
    others = [make_series([doubtful[0]] * 2, model=f"m{number}") for number in range(60)]
    history = make_history([make_series(doubtful), *others])
    among = compare_revisions(history, commit_hash(0), commit_hash(1))
    assert among[0].p == pytest.approx(61 * alone.p)
    assert among[0].verdict is Verdict.SAME


def test_alike_commits_are_seldom_called_different_and_five_per_cent_often():
    """Two runs alone: A/A, then 5 % slower, noise 2 %, 20 samples."""
    rng = np.random.default_rng(6)

    def verdicts(ratio):
        series = [
            make_series([sampled(rng, 1.0), sampled(rng, ratio)], model=f"m{number}")
            for number in range(200)
        ]
        history = make_history(series)
        compared = compare_revisions(history, commit_hash(0), commit_hash(1))
        return [comparison.verdict for comparison in compared]

    assert verdicts(1.0).count(Verdict.SAME) >= 198
    assert verdicts(1.05).count(Verdict.WORSE) >= 195


@given(
    st.floats(0.5, 2.0),
    st.floats(0.001, 0.1),
    st.sampled_from([2.0**-10, 1.0, 2.0**20]),
    st.booleans(),
)
@settings(max_examples=60)
def test_the_unit_does_not_matter(ratio, spread, factor, higher):
    rng = np.random.default_rng(8)
    before, after = sampled(rng, factor, spread, 10), sampled(rng, factor * ratio, spread, 10)
    rng = np.random.default_rng(8)
    plain = compare_two(
        sampled(rng, 1.0, spread, 10), sampled(rng, ratio, spread, 10), higher_is_better=higher
    )
    scaled = compare_two(before, after, higher_is_better=higher)
    assert scaled.verdict is plain.verdict
    assert scaled.ratio == pytest.approx(plain.ratio)
    assert scaled.interval == pytest.approx(plain.interval)
    assert scaled.p == plain.p
    if scaled.significant:
        assert (scaled.verdict is Verdict.BETTER) == (scaled.improvement > 1)


def test_environments_are_compared_at_the_newest_common_commit():
    old = make_series(
        [interval(1.0, 0.01), interval(1.0, 0.01), Run(Outcome.FAILED)], environment="torch2.14.1"
    )
    new = make_series(
        [interval(1.0, 0.01), interval(0.8, 0.01), interval(0.7, 0.01)], environment="torch2.15.0"
    )
    history = make_history([old, new])
    [comparison] = compare_environments(history, "ci-2core", "torch2.14.1", "torch2.15.0")
    assert comparison.after_at.commit == comparison.before_at.commit == commit_hash(1)
    assert comparison.ratio == 0.8
    assert comparison.verdict is Verdict.BETTER
    [comparison] = compare_environments(
        history, "ci-2core", "torch2.14.1", "torch2.15.0", commit_hash(2)
    )
    assert comparison.why == "before: failed"


def test_machines_are_compared_in_one_environment():
    slow = make_series([interval(2.0, 0.01)], machine="slow")
    fast = make_series([interval(1.0, 0.01)], machine="fast")
    [comparison] = compare_machines(make_history([slow, fast]), "slow", "fast", "torch2.15.0")
    assert comparison.ratio == 0.5
    assert (comparison.before_at.machine, comparison.after_at.machine) == ("slow", "fast")
    assert comparison.verdict is Verdict.BETTER


def test_unknown_names_are_one_clear_error():
    history = make_history([make_series([1.0])])
    with pytest.raises(TorchspeedError, match="no machine 'x' in the results: choose from ci-2c"):
        compare_environments(history, "x", "torch2.15.0", "torch2.15.0")
    with pytest.raises(TorchspeedError, match=r"no environment 'y'.*torch2\.15\.0"):
        compare_environments(history, "ci-2core", "y", "torch2.15.0")
    with pytest.raises(TorchspeedError, match="no machine"):
        compare_machines(history, "ci-2core", "x", "torch2.15.0")
    with pytest.raises(TorchspeedError, match="no environment"):
        compare_machines(history, "ci-2core", "ci-2core", "y")


def test_commits_go_by_hash_start_of_it_and_tag():
    commits = (*make_commits(2), Commit("0000ffff" * 5, 3, "Tagged", ("v1", "v1.0")))
    history = make_history([make_series([1.0, 2.0])], commits=commits)
    assert resolve_commit(history, commit_hash(1)) == commit_hash(1)
    assert resolve_commit(history, "00000001") == commit_hash(1)
    assert resolve_commit(history, "v1") == "0000ffff" * 5
    for name, said in (("0000", "several"), ("beef", "no commit"), ("", "no commit")):
        with pytest.raises(TorchspeedError, match=said):
            resolve_commit(history, name)


def test_summaries_turn_ratios_so_that_more_is_better_and_say_of_how_many():
    rng = np.random.default_rng(9)
    series = [
        make_series([sampled(rng, 1.0, 0.001), sampled(rng, 0.5, 0.001)], model="a"),
        make_series([sampled(rng, 1.0, 0.001), sampled(rng, 2.0, 0.001)], model="b"),
        make_series(
            [sampled(rng, 1.0, 0.001), sampled(rng, 4.0, 0.001)], model="c", higher_is_better=True
        ),
        make_series([1.0, NEVER_RUN], model="d"),
        make_series([NEVER_RUN, 1.0], model="e", device="cuda"),
    ]
    compared = compare_revisions(make_history(series), commit_hash(0), commit_hash(1))
    on_cpu, on_cuda = summarise(compared, ("device", "absent"))
    assert on_cpu.labels == ("cpu", "")
    assert (on_cpu.better, on_cpu.worse, on_cpu.same, on_cpu.missing) == (2, 1, 0, 1)
    assert on_cpu.improvement.count == 3
    assert on_cpu.improvement.value == pytest.approx(4 ** (1 / 3), rel=0.01)
    assert on_cuda.improvement is None
    assert on_cuda.missing == 1


def test_torch_releases_of_a_generated_history(history, generated):
    """The second pair is planted 4 % faster; memory, which needs no samples, shows it."""
    old, new = sorted(history.environments)
    compared = compare_environments(history, "gpu-lab", old, new)
    memory = [s for s in summarise(compared) if s.labels[2] == "peak memory"]
    assert len(memory) == 4
    assert sum(summary.improvement.count for summary in memory) >= 44
