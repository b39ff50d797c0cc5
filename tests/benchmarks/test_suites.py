"""asv sees the suites that the README promises, and they work with what it installs."""

import ast
import json
import os
import pickle
import re
import shutil
import subprocess
import sys
from itertools import product
from pathlib import Path
from typing import Any

import asv.benchmark
import asv.config
import pytest

from asv_watch.asv.declared import read_declared
from asv_watch.asv.selection import cases_of, in_short_set
from asv_watch.records.asv_files import merge_lists, parse_list
from asv_watch.records.records import case_name
from asv_watch.text.quantities import more_is_better
from benchmarks._tracked import Measured, _CachedSuite, tracked
from benchmarks.plain import PlainModels
from benchmarks.time_series import TimeSeries
from benchmarks.variants import CNNVariants
from benchmarks.work import PlainWork, Work
from tests.conftest import ROOT, run
from torchspeed.measure.work import Work as Count
from torchspeed.published.values import SITE_VALUES, site_rows, site_values
from torchspeed.workloads import list_workloads


def _asv(
    cwd: Path, *arguments: str | Path, package: Path, status: int = 0
) -> subprocess.CompletedProcess[str]:
    command = sys.executable, asv.benchmark.__file__, *arguments
    return run(*command, cwd=cwd, env=os.environ | {"ASV_PYTHONPATH": str(package)}, status=status)


@pytest.fixture(scope="module")
def benchmarks(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    match = tmp_path_factory.mktemp("discovery") / "found.json"
    _asv(ROOT, "discover", ROOT / "benchmarks", match, package=ROOT / "src")
    declared = read_declared(asv.config.Config.load(str(ROOT / "asv.conf.json")), ROOT)
    described = map(declared.describe, json.loads(match.read_text()))
    return {benchmark["name"]: benchmark for benchmark in described}


@pytest.fixture(scope="module")
def cases(benchmarks: dict[str, Any]) -> set[str]:
    return {case_name(b["name"], params) for b in benchmarks.values() for params in cases_of(b)}


def test_stored_series_go_on_as_they_were_sampled(benchmarks: dict[str, Any]) -> None:
    lists = list((ROOT / "results").glob("*/benchmarks.json"))
    assert lists
    stored = merge_lists(parse_list(path.read_bytes()) for path in lists)
    for name in benchmarks.keys() & stored.keys():
        before, now = stored[name], benchmarks[name]
        assert (now["unit"], now["param_names"]) == (before["unit"], before["param_names"])
        parts = [str(b["version"]).partition("; ") for b in (before, now)]
        assert parts[1][0].isdigit(), "the version of the code"
        assert parts[0][2] == parts[1][2], (
            f"{name} is sampled by another recipe: all absolute values would start anew. Put it "
            'back, or do what CONTRIBUTING.md says under "Changing what is measured"'
        )


def test_every_workload_is_timed_and_its_work_counted(benchmarks: dict[str, Any]) -> None:
    for kind in ("time_", "track_flops", "peakmem_"):
        models: set[str] = set()
        for name, benchmark in benchmarks.items():
            if f".{kind}" in name and "model" in benchmark["param_names"]:
                position = benchmark["param_names"].index("model")
                models |= set(map(ast.literal_eval, benchmark["params"][position]))
        assert models == set(list_workloads()), kind


def test_values_have_units_and_directions_and_skips_say_why(benchmarks: dict[str, Any]) -> None:
    for name, benchmark in benchmarks.items():
        higher = bool(benchmark.get("higher_is_better"))
        assert benchmark["unit"], name
        assert higher == (benchmark["unit"] in {"FLOP/s", "windows/s", "%"}), name
        assert higher or not more_is_better(benchmark["unit"]), name
        assert bool(benchmark.get("skip_params")) == bool(benchmark.get("skipped_because")), name


def test_the_plain_models_come_first_and_the_short_set_is_small(
    benchmarks: dict[str, Any], cases: set[str]
) -> None:
    short = [
        case_name(b["name"], params)
        for b in benchmarks.values()
        for params in cases_of(b)
        if in_short_set(b, params)
    ]
    positions = {name: b.get("position", 5) for name, b in benchmarks.items()}
    assert min(positions, key=positions.__getitem__).startswith("plain.")
    left_out = {"modes", "plain_compiled", "plain_graphs", "batches", "variants"}
    left_out |= {"fluxbench", "flux_training", "latency", "loading", "training"}
    left_out |= {"floor", "real_sizes", "deployment"}
    families = {case.split(".")[0] for case in short}
    assert families.isdisjoint(left_out)
    assert families | left_out == {case.split(".")[0] for case in cases}
    assert len(short) < len(cases) / 2
    assert sum("'cuda'" not in case for case in short) <= 200


def _choices(written: str) -> list[str]:
    """Return each text that one with choices in braces, such as ``{5,10}``, stands for."""
    parts = [part.split(",") for part in re.split(r"{([^}]+)}", written)[1::2]]
    return [re.sub(r"{[^}]+}", "{}", written).format(*chosen) for chosen in product(*parts)]


def test_the_page_has_fluxbenchs_65_cases_and_ours_exist(cases: set[str]) -> None:
    page = (ROOT / "docs/models/fluxbench.md").read_text(encoding="utf-8")
    written = re.findall(r"^([\w{]\S+_\S+) +(none|\w+\.\S.*\))$", page, re.MULTILINE)
    rows = [row for names in written for row in zip(*map(_choices, names), strict=True)]
    assert len({theirs for theirs, _ in rows}) == len(rows) == 65
    ours = {case: theirs for theirs, case in rows if case != "none"}
    assert len(ours) == 60
    assert set(ours) <= cases
    for case, theirs in ours.items():
        inference = "forward" in case or "Detectors" in case
        assert inference == bool(re.search("forw|ObjectDetector", theirs, re.IGNORECASE)), theirs
        # Sizes and batches are the same: theirs in its name, ours in the name of the case.
        digits = set(re.findall(r"(?<=[_(, ])\d+", case.rpartition("(")[2]))
        assert digits <= set(re.findall(r"\d+", theirs)), theirs


def test_published_values_are_those_of_their_sources_and_each_has_a_case(cases: set[str]) -> None:
    assert SITE_VALUES.read_text(encoding="utf-8") == site_values(), (
        "run `python -m torchspeed.published.values`"
    )
    assert {row["case"] for row in site_rows()} <= cases


class _ThreeCases(_CachedSuite):
    params = (["sound", "broken", "absent"],)
    param_names = ("name",)
    measured_cases: list[str]

    def measure(self, name: str) -> Measured:
        type(self).measured_cases.append(name)
        if name == "absent":
            raise NotImplementedError("no such device")
        return {"level": Count(7 // (name != "broken"), 0), "none": None}

    track_value = tracked("level", "flops", unit="units", scale=100)
    track_none = tracked("none", unit="units")


def test_a_case_is_measured_once_a_run_and_what_fails_leaves_the_others(tmp_path: Path) -> None:
    _ThreeCases.measured_cases = []
    for _ in range(2):
        suite = _ThreeCases()
        suite.setup(str(tmp_path), "sound")
        assert suite.track_value(str(tmp_path), "sound") == 700
        with pytest.raises(RuntimeError, match="the case ran, but has no value 'none'"):
            suite.track_none(str(tmp_path), "sound")
        with pytest.raises(RuntimeError, match="ZeroDivisionError"):
            suite.setup(str(tmp_path), "broken")
        with pytest.raises(NotImplementedError, match="no such device"):
            suite.setup(str(tmp_path), "absent")
    assert _ThreeCases.measured_cases == ["sound", "broken", "absent"]


SLOW_FIRST_CALL = """
import time
from ._suite import _TimedSuite

class Suite(_TimedSuite):
    warm = False
    setups = 0

    def setup(self):
        Suite.setups += 1

    def time_it(self):
        time.sleep(0.001 if Suite.warm else 0.15)
        Suite.warm = True
"""


def test_a_slow_first_call_makes_no_samples_of_one_call(tmp_path: Path) -> None:
    suites = tmp_path / "suites"
    shutil.copytree(ROOT / "benchmarks", suites)
    (suites / "stub.py").write_text(SLOW_FIRST_CALL)
    values = tmp_path / "values.json"
    case = "stub.Suite.time_it"
    _asv(tmp_path, "run", suites, case, "{}", "None", values, package=ROOT / "src")
    measured = json.loads(values.read_text())
    assert measured["number"] > 1
    assert max(measured["samples"]) < 0.05


def test_what_a_commit_lacks_is_skipped_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NotImplementedError, match="this commit has no workload 'unborn'"):
        TimeSeries().setup("unborn", "cpu")

    def passes(workload: str, device: str, batch: int | None = None) -> str:
        return f"{workload} {device} {batch}"

    monkeypatch.setattr("torchspeed.measure.passes.passes", passes)
    with pytest.raises(NotImplementedError, match="passes of this commit has no precision"):
        CNNVariants().setup("lenet5", "cpu", "bf16", "contiguous")
    with pytest.raises(NotImplementedError, match="passes of this commit has no implementation"):
        PlainModels().setup("darnn", "cpu")
    tuned = TimeSeries()
    tuned.setup("darnn", "cpu")
    assert str(tuned.passes) == "darnn cpu None"


def test_each_suite_measures_the_implementation_that_it_is_about() -> None:
    plain, tuned = PlainModels(), TimeSeries()
    for suite in (plain, tuned):
        suite.setup("lstnet", "cpu")
        suite.passes.forward()
    models = [type(suite.passes.model).__name__ for suite in (plain, tuned)]
    assert models == ["LSTNet", "TunedLSTNet"]
    flops = [suite.measure("lstnet", "cpu").forward.flops for suite in (PlainWork(), Work())]
    assert flops[0] < flops[1], "the tuned convolution multiplies by zeros"


def test_a_defect_of_a_commit_fails_and_is_not_skipped(tmp_path: Path) -> None:
    files = {
        "__init__": "",
        "devices": "def missing_device(device): return None",
        "workloads": "def list_workloads(): return ['darnn']",
        "measure/__init__": "",
        "measure/passes": "from torchspeed.devices import no_such_name",
    }
    (tmp_path / "torchspeed" / "measure").mkdir(parents=True)
    for name, text in files.items():
        (tmp_path / "torchspeed" / f"{name}.py").write_text(text)
    case = "time_series.TimeSeries.time_forward-0"
    arguments = ("run", str(ROOT / "benchmarks"), case, "{}", "None", str(tmp_path / "r.json"))
    done = _asv(tmp_path, *arguments, package=tmp_path, status=1)
    assert "no_such_name" in done.stderr


@pytest.mark.parametrize(
    "name",
    [
        "plain.PlainModels.time_forward",
        "flux_training.AllCores.time_five_steps",
        "modes.Modes.time_forward",
        "device_memory.DeviceMemory.track_device_peak_allocated_forward",
    ],
)
def test_what_the_first_commit_lacked_is_skipped(tmp_path: Path, name: str) -> None:
    """An empty package stands for any older commit: every suite skips, none fails."""
    (tmp_path / "torchspeed").mkdir()
    (tmp_path / "torchspeed" / "__init__.py").write_text("")
    (tmp_path / "cache.pickle").write_bytes(pickle.dumps(str(tmp_path)))
    arguments = (f"{name}-0", "{}", "None", str(tmp_path / "result.json"))
    done = _asv(tmp_path, "run", str(ROOT / "benchmarks"), *arguments, package=tmp_path)
    assert "skipped: NotImplementedError('this commit" in done.stdout, name
