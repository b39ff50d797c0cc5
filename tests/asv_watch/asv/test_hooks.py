"""The plugin inside real `asv run`s: outcomes kept, absent devices free, resuming."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import asv
import asv.util
import pytest

from asv_watch.asv import hooks
from asv_watch.records.side_files import read_records
from tests.asv_watch.asv.project import Project, suite_files

SUITE = """
import os
import time
from asv_runner.benchmarks.mark import skip_for_params
RAN = {marker!r}

class Outcomes:
    params = (["good", "broken", "slow", "shy", "wordy", "infinite"], ["cpu", "cuda"])
    param_names = ("kind", "device")
    timeout = 8

    def setup(self, kind, device):
        with open(RAN, "a") as stream:
            stream.write(f"{{kind}} {{device}}\\n")
        if kind == "shy":
            raise NotImplementedError("needs a full moon")

    def track_it(self, kind, device):
        if kind == "broken":
            raise RuntimeError("out of cheese")
        if kind == "slow":
            time.sleep(60)
        return {{"wordy": "many", "infinite": float("inf")}}.get(kind, 42.0)

    @skip_for_params([("good", "cpu"), ("shy", "cpu")])
    def track_decorated(self, kind, device):
        return 1.0

    track_decorated.skipped_because = "the moon is down"

    @skip_for_params([("good", "cpu")])
    def track_mute(self, kind, device):
        return 1.0

    def time_it(self, kind, device):
        pass

    track_it.short = {{"kind": ["good", "shy"]}}
    track_decorated.short = track_mute.short = time_it.short = False


class Conditions:
    params = ["OMP_NUM_THREADS", "MALLOC_TOP_PAD_"]

    def track_variable(self, name):
        return int(os.environ[name])


class Cached:
    params = ([1, 2, 3],)

    def setup_cache(self):
        raise RuntimeError("the cache ran dry")

    def track_cached(self, cache, n):
        return n


class SlowCache:
    def setup_cache(self):
        time.sleep(60)

    setup_cache.timeout = 1

    def track_slow_cache(self, cache):
        return 1
"""

FAILS_TO_BUILD = """
import asv.environment, asv.main, asv.util

builds = iter(["for discovery"])

def build(*_):
    if not next(builds, None):
        raise asv.util.ProcessError(["pip", "wheel"], 1, "", "")

asv.environment.ExistingEnvironment.installed_commit_hash = "another"
asv.environment.ExistingEnvironment.install_project = build
asv.main.main()
"""

DEVICES = ("cpu", "cuda")


class SuiteProject(Project):
    """Runs the suite above; knows which cases cost a process."""

    def __init__(self, folder: Path, home: Path, marker: Path) -> None:
        super().__init__(folder, home)
        self._marker = marker

    def run(self, *arguments: str, asv: tuple[str, ...] = ("-m", "asv"), **variables: str) -> int:
        """`asv run` HEAD in this Python; returns its exit status."""
        self._marker.write_text("")
        process = self.start(*self.run_arguments(*arguments), asv=asv, **variables)
        output, _ = process.communicate()
        assert "watch/asv" not in output, output
        return process.returncode

    def started(self) -> set[str]:
        """The cases that cost a process in the last run."""
        return set(self._marker.read_text().splitlines())

    def outcomes(self) -> dict[str, tuple[str, str]]:
        return {line["case"]: (line["outcome"], line["reason"]) for line in self.lines()}

    def values(self, benchmark: str) -> list[float | None]:
        values: list[float | None] = self.stored("result", benchmark)
        return values

    def samples(self, benchmark: str) -> list[list[float] | None]:
        samples: list[list[float] | None] = self.stored("samples", benchmark)
        return samples


@pytest.fixture
def project(make_repository: Callable[..., Path], tmp_path: Path) -> SuiteProject:
    marker = tmp_path / "marker"
    folder = make_repository(suite_files(SUITE.format(marker=str(marker))))
    return SuiteProject(folder, tmp_path, marker)


def test_another_release_of_asv_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asv, "__version__", "0.6.5")
    with pytest.raises(asv.util.UserError, match=r"^asv 0\.6\.5 is .* run `pip install asv==0"):
        hooks.setup()


def test_every_outcome_is_kept_with_its_reason(project: SuiteProject) -> None:
    assert project.run("--bench", "track_it") == 2
    outcomes = project.outcomes()

    def of(kind: str, device: str = "cpu") -> tuple[str, str]:
        return outcomes[f"suite.Outcomes.track_it('{kind}', '{device}')"]

    assert of("good") == ("ok", "")
    assert of("broken")[0] == "failed"
    assert "RuntimeError: out of cheese" in of("broken")[1]
    assert of("slow") == ("timed out", "stopped after 8 s")
    assert of("shy") == ("skipped", "needs a full moon")
    assert of("wordy")[0] == "failed"
    assert "'many'" in of("wordy")[1]
    assert of("infinite")[0] == "failed"
    assert of("good", "cuda") == ("skipped", "no GPU on this machine")
    values = project.values("suite.Outcomes.track_it")
    assert values[0] == 42.0
    assert isinstance(values[1], float)
    assert math.isnan(values[1])
    assert values[8] is None, "a text must not be stored as a value"
    assert values[10] is None, "an infinity must not be stored as a value"


def test_a_case_that_a_decorator_skips_costs_no_process_and_says_why(
    project: SuiteProject,
) -> None:
    project.run("--bench", r"track_(decorated|mute)\('(good|shy)'")
    assert project.started() == {"shy cpu"}, "track_mute has to ask setup"
    outcomes = project.outcomes()
    assert outcomes["suite.Outcomes.track_decorated('good', 'cpu')"] == (
        "skipped",
        "the moon is down",
    )
    assert outcomes["suite.Outcomes.track_decorated('shy', 'cpu')"][1] == "the moon is down"
    assert outcomes["suite.Outcomes.track_mute('good', 'cpu')"] == (
        "skipped",
        "skipped by its suite",
    )
    assert outcomes["suite.Outcomes.track_mute('shy', 'cpu')"][1] == "needs a full moon"
    values = project.values("suite.Outcomes.track_decorated")
    assert isinstance(values[0], float)
    assert math.isnan(values[0]), "a skipped case is stored as asv stores it"


def test_a_failed_setup_cache_fails_its_cases_with_its_message(project: SuiteProject) -> None:
    assert project.run("--bench", r"track_cached\((1|3)\)", "--bench", "track_slow_cache") == 2
    outcomes = project.outcomes()
    for case in ("suite.Cached.track_cached(1)", "suite.Cached.track_cached(3)"):
        assert outcomes[case][0] == "failed"
        assert "RuntimeError: the cache ran dry" in outcomes[case][1]
        assert 'File "benchmarks/suite.py", line' in outcomes[case][1]
    assert outcomes["suite.SlowCache.track_slow_cache"] == (
        "timed out",
        "setup_cache was stopped after 1 s",
    )
    assert "suite.Cached.track_cached(2)" not in outcomes
    entry, two, three = project.values("suite.Cached.track_cached")
    assert (entry, three) == (None, None)
    assert two is not None, "a case that nobody asked for has not failed"
    assert math.isnan(two)


def test_a_failed_build_fails_what_was_asked_for_and_loses_no_figure(
    project: SuiteProject,
) -> None:
    good, both = r"track_it\('good', 'cpu'", r"track_it\('(good|shy)', 'cpu'"
    assert project.run("--bench", good) == 0
    project.run("--bench", both, asv=("-c", FAILS_TO_BUILD), ASV_WATCH_RESUME="missing")
    assert project.started() == set()
    assert "could not be built" in project.outcomes()["suite.Outcomes.track_it('shy', 'cpu')"][1]
    assert project.outcomes()["suite.Outcomes.track_it('good', 'cpu')"] == ("ok", "")
    values = project.values("suite.Outcomes.track_it")
    assert values[0] == 42.0
    assert values[6] is None


def test_an_existing_python_runs_under_the_conditions_of_the_configuration(
    project: SuiteProject,
) -> None:
    project.run("--bench", "track_variable", OMP_NUM_THREADS="3")
    assert project.values("suite.Conditions.track_variable") == [3, 65536]


def test_a_run_leaves_a_record_of_where_it_was_and_appends_it_to_the_last(
    project: SuiteProject,
) -> None:
    good = ("--bench", r"track_it\('good'")
    project.run(*good)
    project.run(*good, OMP_NUM_THREADS="3")
    project.run(*good, ASV_WATCH_RESUME="missing")  # nothing is missing: nothing was measured
    read = [read_records(path) for path in project.results.glob("*.environment.jsonl")]
    assert [problems for _, problems in read] == [[], []]
    by_threads = {
        record.environment["variable OMP_NUM_THREADS"]: record
        for records, _ in read
        for record in records
    }
    assert sum(len(records) for records, _ in read) == 2
    assert by_threads.keys() == {"1", "3"}
    record = by_threads["1"]
    assert record.environment["interpreter"].startswith("CPython")
    assert record.machine["kernel"]
    assert record.before.keys() == record.after.keys()


def test_resuming_tries_failures_again_only_when_told(project: SuiteProject) -> None:
    broken = ("--bench", r"track_it\('(good|broken)'")
    project.run(*broken)
    project.run(*broken, ASV_WATCH_RESUME="missing")
    assert project.started() == {"broken cpu"}
    project.run(*broken, ASV_WATCH_RESUME="never-run")
    assert project.started() == set()
    assert project.values("suite.Outcomes.track_it")[0] == 42.0


def test_a_run_of_the_short_set_measures_what_suites_declare_and_stores_nothing_else(
    project: SuiteProject,
) -> None:
    assert project.run("--bench", "Outcomes", ASV_WATCH_SHORT="1") == 0
    assert project.started() == {"good cpu", "shy cpu"}
    cases = {f"track_it('{kind}', '{device}')" for kind in ("good", "shy") for device in DEVICES}
    assert set(project.outcomes()) == {f"suite.Outcomes.{case}" for case in cases}
