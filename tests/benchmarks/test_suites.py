"""asv sees the suites that the README promises."""

from __future__ import annotations

import importlib.metadata
import itertools
import json
import os
import pickle
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import asv.benchmark
import pytest
import torch

from asv_watch.asv.cases import case_name, cases_of
from asv_watch.asv.processes import CASES
from asv_watch.asv.selection import in_short_set
from asv_watch.records.benchmark_list import more_is_better
from benchmarks import _forks, floor, modes, operators, utilisation
from benchmarks._tracked import Measured, _MeasuredOnce, tracked
from benchmarks.allocations import Allocations
from benchmarks.flux_training import AllCores
from benchmarks.instructions import Instructions
from benchmarks.plain import PlainModels
from benchmarks.time_series import TimeSeries
from benchmarks.variants import CNNVariants
from benchmarks.work import Work
from tests.conftest import ROOT
from torchspeed.measure.compile_cost import Cost
from torchspeed.measure.floor import Floor, FloorOfWorkload
from torchspeed.measure.operators import OPERATORS
from torchspeed.workloads import list_workloads

FIGURES = ("time_forward", "time_backward", "peakmem_forward", "peakmem_backward")
OTHERS = ("modes.", "plain.", "variants.", "operators.")
"""Suites that measure workloads in another form than the other suites."""
DEVICE_FIGURES = tuple(
    f"track_device_peak_{kind}_{pass_name}"
    for kind in ("allocated", "reserved")
    for pass_name in ("forward", "backward")
)


def _asv(
    root: Path, *arguments: str, package: Path | None = None
) -> subprocess.CompletedProcess[str]:
    # Through a shell: a process counts the peak memory of the one it was forked from as its own.
    shell = ("/bin/sh", "-c", '"$@"; exit $?', "sh")
    return subprocess.run(
        [*shell, sys.executable, asv.benchmark.__file__, *arguments],
        cwd=root,
        env=os.environ | {"OMP_NUM_THREADS": "1", "ASV_PYTHONPATH": str(package or ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def benchmarks(root: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    match = tmp_path_factory.mktemp("discovery") / "found.json"
    done = _asv(root, "discover", str(root / "benchmarks"), str(match))
    assert done.returncode == 0, done.stderr
    return {benchmark["name"]: benchmark for benchmark in json.loads(match.read_text())}


def _cases(benchmarks: dict[str, Any]) -> Iterator[str]:
    for benchmark in benchmarks.values():
        for params in cases_of(benchmark):
            yield case_name(benchmark, params)


def test_every_decorated_skip_says_why(benchmarks: dict[str, Any]) -> None:
    decorated = [value for value in benchmarks.values() if value.get("skip_params")]
    assert decorated
    assert [entry["name"] for entry in decorated if not entry.get("skipped_because")] == []


@pytest.mark.parametrize("measurement", FIGURES)
@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_every_workload_has_every_figure_on_every_device(
    benchmarks: dict[str, Any], measurement: str, device: str
) -> None:
    pattern = re.compile(rf"\.{measurement}\('(\w+)', '{device}'")
    measured = {match[1] for case in _cases(benchmarks) if (match := pattern.search(case))}
    assert measured >= set(list_workloads()) - set(list_workloads("flux_training"))


@pytest.mark.parametrize("measurement", ["time_five_steps", "peakmem_five_steps"])
@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_every_training_of_flux_is_measured_on_every_device(
    benchmarks: dict[str, Any], measurement: str, device: str
) -> None:
    suite = benchmarks[f"flux_training.FluxTraining.{measurement}"]
    assert suite["params"][0] == [repr(name) for name in list_workloads("flux_training")]
    assert repr(device) in suite["params"][1]
    assert suite["params"][2] == ["1"]


def test_all_cores_are_a_case_of_their_own_on_the_clock_on_the_wall(
    benchmarks: dict[str, Any],
) -> None:
    suite = benchmarks["flux_training.AllCores.time_five_steps"]
    assert suite["params"][1:] == [["'cpu'"], ["'all'"]]
    assert suite["clocks"]["cpu"] == "wall time"
    entry = benchmarks["flux_training.FluxTraining.time_five_steps"]
    assert entry["clocks"]["cpu"] == "CPU time of the process"
    assert set(suite["params"][0]) < set(entry["params"][0])


def test_all_cores_means_all_and_the_clock_is_the_walls() -> None:
    threads = torch.get_num_threads()
    try:
        suite = AllCores()
        suite.setup("lstnet_solar", "cpu", "all")
        assert torch.get_num_threads() == len(os.sched_getaffinity(0))
        assert suite.timer is time.perf_counter
    finally:
        torch.set_num_threads(threads)


@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_utilisation_of_every_workload_is_tracked_and_more_is_better(
    benchmarks: dict[str, Any], direction: str
) -> None:
    for measurement, unit in (
        (f"flops_per_second_{direction}", "FLOP/s"),
        (f"mfu_{direction}", "%"),
    ):
        suites = [
            benchmark
            for name, benchmark in benchmarks.items()
            if name.startswith("utilisation.") and name.endswith(f".track_{measurement}")
        ]
        models = [model for suite in suites for model in suite["params"][0]]
        trained = set(list_workloads("flux_training"))
        assert models == [repr(name) for name in list_workloads() if name not in trained]
        assert {suite["unit"] for suite in suites} == {unit}
        assert all(suite["higher_is_better"] for suite in suites)


def test_our_models_are_held_against_their_floors_in_both_modes(
    benchmarks: dict[str, Any],
) -> None:
    ours = [*list_workloads("time_series"), *list_workloads("small_cnn")]
    names = ("floor_seconds", "times_floor")
    for suite, name, pass_name in itertools.product(
        ("Eager", "Compiled"), names, ("forward", "backward")
    ):
        benchmark = benchmarks[f"floor.{suite}.track_{name}_{pass_name}"]
        mode = repr(suite.lower())
        assert benchmark["params"] == [[repr(m) for m in ours], ["'cpu'", "'cuda'"], [mode]]
        assert benchmark["unit"] == ("seconds" if name == "floor_seconds" else "times")
        assert not more_is_better(benchmark["unit"])
        assert benchmark["short"] == (suite == "Eager")


def test_a_peak_is_tracked_for_each_arithmetic(benchmarks: dict[str, Any]) -> None:
    peak = benchmarks["utilisation.DevicePeak.track_peak_flops_per_second"]
    assert peak["params"] == [["'cpu'", "'cuda'"], ["'float32'", "'tf32'"]]
    assert peak["unit"] == "FLOP/s"
    assert peak["higher_is_better"]


class _ThreeCases(_MeasuredOnce):
    params = (["sound", "broken", "absent"],)
    param_names = ("name",)

    def measure(self, name: str) -> Measured:
        if name == "absent":
            raise NotImplementedError("no such device")
        return {"level": {"value": 7 // (name != "broken")}, "error": "callgrind died"}

    track_value = tracked("level", "value", unit="units", scale=100)


def test_one_failure_or_skip_leaves_the_other_cases() -> None:
    suite = _ThreeCases()
    outcomes = suite.measure_all()
    suite.setup(outcomes, "sound")
    assert suite.track_value(outcomes, "sound") == 700
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        suite.setup(outcomes, "broken")
    with pytest.raises(NotImplementedError, match="no such device"):
        suite.setup(outcomes, "absent")


def test_values_are_prepared_for_the_cases_of_the_run_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    selected = {
        "benchmarks.test_suites._ThreeCases": [["'sound'"]],
        "another.Suite": [["'broken'"]],
    }
    Path(CASES).write_text(json.dumps(selected))
    assert list(_ThreeCases().measure_all()) == [("sound",)]
    Path(CASES).write_text("{}")
    assert _ThreeCases().measure_all() == {}


class _WaitingForEachOther(_MeasuredOnce):
    params = (["first", "second", "crashing"], ["cpu", "cuda"])
    param_names = ("name", "device")
    counting_modules = ("torchspeed.measure.unborn",)
    notes: Path

    def measure(self, name: str, device: str) -> Measured:
        if (name, device) == ("crashing", "cpu"):
            os._exit(3)
        (self.notes / name).touch()
        until = time.monotonic() + 20
        while len(list(self.notes.iterdir())) < 2:
            assert time.monotonic() < until
            time.sleep(0.01)
        if (name, device) == ("first", "cpu"):
            raise NotImplementedError("too early")
        return {"process": os.getpid()}


def test_what_depends_on_no_clock_is_measured_at_the_same_time_in_forks(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(_WaitingForEachOther, "notes", tmp_path, raising=False)
    monkeypatch.setattr(_forks, "cores", lambda: 2)
    outcomes = _WaitingForEachOther().measure_all()
    assert outcomes["first", "cpu"] == {"skipped": "too early"}
    assert outcomes["second", "cpu"]["process"] != os.getpid()
    assert outcomes["crashing", "cpu"] == {"failed": "its process ended with status 3"}
    assert outcomes["first", "cuda"] == outcomes["second", "cuda"] == {"process": os.getpid()}


def test_a_case_that_ran_without_the_value_fails_with_its_error() -> None:
    suite = _ThreeCases()
    suite.measured = {"level": {"value": None}, "error": "callgrind died"}
    with pytest.raises(RuntimeError, match="callgrind died"):
        suite.track_value({}, "sound")


@pytest.mark.parametrize(
    ("suite", "module", "case"),
    [
        (utilisation.TimeSeries(), "measure.utilisation", ("darnn", "cpu")),
        (floor.Eager(), "measure.floor", ("darnn", "cpu", "eager")),
        (Work(), "measure.work", ("lstnet", "cpu")),
        (Allocations(), "measure.allocations", ("lstnet", "cpu")),
        (Instructions(), "measure.instructions", ("lstnet", "cpu", 8)),
    ],
)
def test_a_commit_without_the_module_skips_the_case_with_the_reason(
    monkeypatch: pytest.MonkeyPatch, suite: _MeasuredOnce, module: str, case: tuple[Any, ...]
) -> None:
    monkeypatch.setitem(sys.modules, f"torchspeed.{module}", None)
    with pytest.raises(NotImplementedError, match=f"no torchspeed.{module}"):
        suite.measure(*case)


def test_a_workload_that_a_commit_lacks_is_skipped_with_the_reason() -> None:
    suites: tuple[_MeasuredOnce, ...] = (utilisation.TimeSeries(), Work(), Allocations())
    for suite in suites:
        with pytest.raises(NotImplementedError, match="this commit has no workload 'unborn'"):
            suite.measure("unborn", "cpu")
    with pytest.raises(NotImplementedError, match="this commit has no workload 'unborn'"):
        TimeSeries().setup("unborn", "cpu")


def test_options_that_passes_of_a_commit_lack_are_skipped_with_the_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def passes(workload: str, device: str, batch: int | None = None) -> None:
        raise AssertionError(f"{workload}, {device}, {batch}: the case runs")

    monkeypatch.setattr("torchspeed.measure.passes.passes", passes)
    with pytest.raises(NotImplementedError, match="passes of this commit has no precision"):
        CNNVariants().setup("lenet5", "cpu", "bf16", "contiguous")


def test_a_defect_of_the_measured_commit_fails_and_is_not_skipped(
    root: Path, tmp_path: Path
) -> None:
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
    arguments = ("run", str(root / "benchmarks"), case, "{}", "None", str(tmp_path / "r.json"))
    done = _asv(tmp_path, *arguments, package=tmp_path)
    assert done.returncode != 0
    assert "no_such_name" in done.stderr


def test_commits_before_the_plain_models_have_only_tuned_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def passes(workload: str, device: str, batch: int | None = None) -> str:
        return f"{workload} {device} {batch}"

    monkeypatch.setattr("torchspeed.measure.passes.passes", passes)
    with pytest.raises(NotImplementedError, match="passes of this commit has no implementation"):
        PlainModels().setup("darnn", "cpu")
    suite = TimeSeries()
    suite.setup("darnn", "cpu")
    assert str(suite.passes) == "darnn cpu None"


def test_each_suite_measures_the_implementation_that_it_is_about() -> None:
    plain, tuned = PlainModels(), TimeSeries()
    for suite in (plain, tuned):
        suite.setup("lstnet", "cpu")
        suite.passes.forward()
    models = [type(suite.passes._model).__name__ for suite in (plain, tuned)]
    assert models == ["LSTNet", "TunedLSTNet"]


def test_the_plain_models_come_first_and_most_of_them_are_in_the_short_set(
    benchmarks: dict[str, Any],
) -> None:
    suites = {name.partition(".")[0]: b["position"] for name, b in benchmarks.items()}
    plain = suites.pop("plain")
    assert plain < min(suites.values())
    ours = [repr(name) for name in list_workloads("time_series") + list_workloads("small_cnn")]
    for figure in FIGURES:
        benchmark = benchmarks[f"plain.PlainModels.{figure}"]
        assert benchmark["params"] == [ours, ["'cpu'", "'cuda'"]]
        short = {case[0] for case in cases_of(benchmark) if in_short_set(benchmark, case)}
        assert short == set(ours) - {"'resnet18_mnist'"}


def test_what_the_first_commit_of_the_package_lacked_is_skipped(
    root: Path, tmp_path: Path
) -> None:
    """An empty package stands for any older commit: every suite skips, none fails."""
    (tmp_path / "torchspeed").mkdir()
    (tmp_path / "torchspeed" / "__init__.py").write_text("")
    (tmp_path / "cache.pickle").write_bytes(pickle.dumps(str(tmp_path)))
    names = {
        "time_series.TimeSeries.time_forward",
        "training.TrainingStep.time_step",
        "training.DataLoading.time_load",
        "training.TimeToAccuracy.track_epochs",
        "flux_training.AllCores.time_five_steps",
        "modes.Modes.time_forward",
        "modes.Compilation.track_graph_breaks",
        "device_memory.DeviceMemory.track_device_peak_allocated_forward",
    }
    for name in names:
        arguments = (f"{name}-0", "{}", "None", str(tmp_path / "result.json"))
        done = _asv(tmp_path, "run", str(root / "benchmarks"), *arguments, package=tmp_path)
        assert done.returncode == 0, done.stderr
        assert "skipped: NotImplementedError('this commit" in done.stdout, name


@pytest.mark.parametrize(
    ("measurement", "unit"),
    [
        ("flops_forward", "FLOP"),
        ("flops_backward", "FLOP"),
        ("dispatches_forward", "dispatches"),
        ("dispatches_backward", "dispatches"),
        ("parameter_bytes", "bytes"),
        ("activation_bytes", "bytes"),
    ],
)
def test_the_work_of_every_workload_is_tracked(
    benchmarks: dict[str, Any], measurement: str, unit: str
) -> None:
    work, trained = (
        benchmarks[f"work.{suite}.track_{measurement}"] for suite in ("Work", "TrainingWork")
    )
    training = list_workloads("flux_training")
    assert trained["params"][0] == [repr(name) for name in training]
    assert work["params"][0] == [repr(name) for name in list_workloads() if name not in training]
    assert work["unit"] == trained["unit"] == unit
    assert not more_is_better(unit)


def test_instructions_are_counted_once_for_all_cases(benchmarks: dict[str, Any]) -> None:
    counts = [b for name, b in benchmarks.items() if name.startswith("instructions.")]
    assert {b["name"].rpartition("_")[2] for b in counts} == {"forward", "backward"}
    assert len({b["setup_cache_key"] for b in counts}) == 1
    assert all(b["unit"] == "instructions" and b["setup_cache_timeout"] == 900 for b in counts)
    assert all(set(b["params"][0]) <= {repr(name) for name in list_workloads()} for b in counts)
    assert not more_is_better("instructions")


def test_where_valgrind_is_missing_counts_are_skipped_with_the_reason(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "instructions.Instructions.track_instructions_forward-0"
    monkeypatch.setenv("PATH", str(tmp_path))
    suites = str(root / "benchmarks")
    made = _asv(tmp_path, "setup_cache", suites, name, "{}")
    assert made.returncode == 0, made.stderr
    done = _asv(tmp_path, "run", suites, name, "{}", "None", str(tmp_path / "result.json"))
    assert done.returncode == 0, done.stderr
    assert "NotImplementedError('valgrind is not installed" in done.stdout


@pytest.mark.parametrize("pass_name", ["forward", "backward"])
def test_the_allocations_of_every_workload_are_tracked(
    benchmarks: dict[str, Any], pass_name: str
) -> None:
    for measurement, unit in (("allocations", "blocks"), ("allocated", "bytes")):
        suite = benchmarks[f"allocations.Allocations.track_{measurement}_{pass_name}"]
        trained = list_workloads("flux_training")
        assert suite["params"][0] == [repr(m) for m in list_workloads() if m not in trained]
        assert suite["unit"] == unit
        assert not more_is_better(unit)


@pytest.mark.parametrize("measurement", DEVICE_FIGURES)
def test_a_cuda_devices_memory_is_measured_for_the_workloads_that_are_timed(
    benchmarks: dict[str, Any], measurement: str
) -> None:
    def cases(wanted: str) -> set[str]:
        plain = [case for case in _cases(benchmarks) if not case.startswith(OTHERS)]
        ends = {case.partition(f".{wanted}(")[2] for case in plain}
        return {end for end in ends if "'cuda'" in end}

    assert cases(measurement) == cases("time_forward")
    assert {b["unit"] for name, b in benchmarks.items() if name.endswith(measurement)} == {"bytes"}


def test_an_import_is_weighed_without_a_model(root: Path, tmp_path: Path) -> None:
    result = tmp_path / "result.json"
    suites = str(root / "benchmarks")
    peaks = []
    for name in ("imports.Imports.peakmem_import-0", "time_series.TimeSeries.peakmem_forward-0"):
        done = _asv(root, "run", suites, name, "{}", "None", str(result))
        assert done.returncode == 0, done.stderr
        peaks.append(json.loads(result.read_text()))
    assert 1e8 < peaks[0] < peaks[1]


def test_torchvisions_models_come_in_fluxbenchs_batches(benchmarks: dict[str, Any]) -> None:
    suite = benchmarks["torchvision_models.TorchvisionModels.time_forward"]
    assert suite["param_names"] == ["model", "device", "batch"]
    assert suite["params"][2] == ["5", "10"]


def test_a_version_names_the_code_the_recipe_and_what_takes_the_samples(
    benchmarks: dict[str, Any],
) -> None:
    runner = f"asv_runner {importlib.metadata.version('asv_runner')}"
    recipe = "rounds=3 repeat=2,20,0.5 sample_time=0.02 warmup_time=0.1"
    assert benchmarks["small_cnns.SmallCNNs.time_forward"]["version"] == f"1; {recipe}; {runner}"
    assert benchmarks["small_cnns.SmallCNNs.peakmem_forward"]["version"] == f"1; {runner}"
    assert benchmarks["work.Work.track_flops_forward"]["version"] == "1"


def test_every_attribute_of_the_recipe_is_part_of_the_version(benchmarks: dict[str, Any]) -> None:
    for benchmark in benchmarks.values():
        code, *sampling = benchmark["version"].split("; ")
        assert code.isdigit()
        if benchmark["type"] == "time":
            named = dict(part.split("=") for part in sampling[0].split())
            fixed = {"number"} if benchmark["number"] else {"sample_time"}
            assert set(named) == {"rounds", "repeat", "warmup_time"} | fixed
            for name in set(named) - {"repeat"}:  # asv lists only single values
                assert float(named[name]) == benchmark[name]


def test_another_recipe_is_another_version() -> None:
    class Slower(TimeSeries):
        warmup_time = 0.4

    assert vars(Slower.time_forward)["version"] != vars(TimeSeries.time_forward)["version"]
    assert vars(Slower.peakmem_forward)["version"] == vars(TimeSeries.peakmem_forward)["version"]


def test_the_clock_of_a_time_is_in_its_metadata(benchmarks: dict[str, Any]) -> None:
    for name, benchmark in benchmarks.items():
        if benchmark["type"] == "time":
            assert set(benchmark["clocks"]) == {"cpu", "cuda"}, name


def test_the_short_set_has_every_family_but_three_and_under_half_of_the_cases(
    benchmarks: dict[str, Any],
) -> None:
    cases = list(_cases(benchmarks))
    short = [
        case_name(benchmark, params)
        for benchmark in benchmarks.values()
        for params in cases_of(benchmark)
        if in_short_set(benchmark, params)
    ]
    families = {case.split(".")[0] for case in cases}
    assert {case.split(".")[0] for case in short} == families - {
        "modes",
        "allocations",
        "operators",
    }
    assert len(short) < len(cases) / 2


def test_every_model_of_ours_and_two_more_run_in_every_mode_and_say_where_they_cannot(
    benchmarks: dict[str, Any],
) -> None:
    ours = [
        repr(name) for family in ("time_series", "small_cnn") for name in list_workloads(family)
    ]
    for measurement in ("time_forward", "time_backward"):
        suite = benchmarks[f"modes.Modes.{measurement}"]
        assert suite["param_names"] == ["model", "device", "mode"]
        assert suite["params"] == [
            [*ours, "'resnet18'", "'squeezenet1_1'"],
            ["'cpu'", "'cuda'"],
            ["'eager'", "'compiled'", "'cudagraph'"],
        ]
        assert suite["skipped_because"] == "CUDA graphs are for GPUs"
        assert suite["rounds"] == 1, "eager and compiled in one recipe"


@pytest.mark.parametrize(
    ("measurement", "unit"),
    [
        ("compile_seconds_forward", "seconds"),
        ("compile_seconds_backward", "seconds"),
        ("graph_breaks", "breaks"),
        ("recompilations", "graphs"),
    ],
)
def test_what_compiling_costs_is_tracked(
    benchmarks: dict[str, Any], measurement: str, unit: str
) -> None:
    suite = benchmarks[f"modes.Compilation.track_{measurement}"]
    assert suite["params"] == benchmarks["modes.Modes.time_forward"]["params"][:2]
    assert suite["unit"] == unit
    assert not more_is_better(unit)
    sharing = ("modes.Modes.time_forward", "floor.Compiled.track_times_floor_forward")
    assert {benchmarks[name]["setup_cache_key"] for name in sharing} == {suite["setup_cache_key"]}


def test_a_run_compiles_a_model_once_and_looks_up_what_that_cost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(modes, "_skip_without_compiler", lambda _device: None)
    compiled = "torchspeed.measure.compile_cost.compile_cost"
    monkeypatch.setattr(compiled, lambda *_: Cost(1.0, 2.0, 0, 0))
    cost = modes.compile_once(str(tmp_path), "lenet5", "cpu")
    monkeypatch.setattr(compiled, None)
    assert modes.compile_once(str(tmp_path), "lenet5", "cpu") == cost
    assert cost["backward_seconds"] == 2.0


def test_a_run_compiles_what_its_cases_need_side_by_side_before_the_first_of_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def compile_once(folder: str, model: str, device: str) -> Measured:
        begun = Path(folder, f"{model}-{device}")
        begun.touch()
        until = time.monotonic() + 20
        while len(list(tmp_path.glob("*-cpu"))) < 3:
            assert time.monotonic() < until
            time.sleep(0.01)
        if model == "lstnet":
            raise RuntimeError("no compiler")
        return {}

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(modes, "compile_once", compile_once)
    monkeypatch.setattr(_forks, "cores", lambda: 3)
    assert modes.setup_cache() == str(tmp_path)
    assert not list(tmp_path.iterdir()), "nothing says what will be needed"
    selected = {
        "modes.Compilation": [["'lenet5'", "'cpu'"], ["'lstnet'", "'cpu'"]],
        "floor.Compiled": [["'lenet5'", "'cpu'", "'compiled'"]],
        "modes.Modes": [
            ["'dsanet'", "'cpu'", "'eager'"],
            ["'darnn'", "'cpu'", "'compiled'"],
            ["'flux_cnn'", "'cuda'", "'compiled'"],
        ],
    }
    Path(CASES).write_text(json.dumps(selected))
    assert modes.setup_cache() == str(tmp_path)
    begun = {file.name for file in tmp_path.glob("*-c*")}
    assert begun == {"darnn-cpu", "lenet5-cpu", "lstnet-cpu"}


def test_the_floor_of_a_compiled_model_is_measured_once_with_what_its_compilation_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []

    def floor_of(model: str, *_: Any) -> FloorOfWorkload:
        steps.append(f"time {model}")
        forward, backward = (Floor(2.0, 2.0 * times, times, times, times) for times in (1.5, 2.5))
        return FloorOfWorkload(forward, backward)

    monkeypatch.setattr(modes, "compile_once", lambda *case: steps.append(f"compile {case[1]}"))
    monkeypatch.setattr(modes, "use_compiled_code", lambda *case: steps.append(f"load {case[1]}"))
    monkeypatch.setattr(floor, "_peak", lambda device: device)
    monkeypatch.setattr("torchspeed.measure.floor.floor_of", floor_of)
    for pass_name, times_floor in (("forward", 1.5), ("backward", 2.5)):
        suite = floor.Compiled()
        suite.setup(str(tmp_path), "lenet5", "cpu", "compiled")
        assert getattr(suite, f"track_times_floor_{pass_name}")() == times_floor
    assert steps == ["compile lenet5", "load lenet5", "time lenet5"]


def test_variants_come_with_the_default_that_they_are_compared_to(
    benchmarks: dict[str, Any],
) -> None:
    for measurement in ("time_forward", "time_backward"):
        images = benchmarks[f"variants.CNNVariants.{measurement}"]
        assert images["param_names"] == ["model", "device", "precision", "layout"]
        assert images["params"][2:] == [
            ["'fp32'", "'bf16'"],
            ["'contiguous'", "'channels_last'"],
        ]
        assert {repr(name) for name in list_workloads("small_cnn")} < set(images["params"][0])
        series = benchmarks[f"variants.TimeSeriesVariants.{measurement}"]
        assert series["param_names"] == ["model", "device", "precision"]
        assert series["params"][0] == [repr(name) for name in list_workloads("time_series")]


def test_an_operator_that_a_commit_lacks_is_skipped_with_the_reason() -> None:
    with pytest.raises(NotImplementedError, match="this commit has no operator 'unborn'"):
        operators.Forward().setup("unborn", "cpu", "fp32", "small")


@pytest.mark.parametrize("pass_name", ["forward", "backward"])
def test_operators_come_in_every_format_and_size_on_every_device(
    benchmarks: dict[str, Any], pass_name: str
) -> None:
    suite = benchmarks[f"operators.{pass_name.capitalize()}.time_{pass_name}"]
    assert suite["param_names"] == ["operator", "device", "precision", "size"]
    assert suite["params"][0] == [repr(name) for name in OPERATORS]
    assert suite["params"][1:] == [
        ["'cpu'", "'cuda'"],
        ["'fp32'", "'bf16'", "'fp16'"],
        ["'small'", "'large'"],
    ]


def test_asv_finds_no_fault_with_the_suites(root: Path) -> None:
    done = _asv(root, "check", str(root / "benchmarks"))
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("measurement", ["time_forward", "time_backward"])
def test_short_calls_are_timed_in_batches_and_set_up_once(
    root: Path, benchmarks: dict[str, Any], tmp_path: Path, measurement: str
) -> None:
    name = f"time_series.TimeSeries.{measurement}"
    index = list(itertools.product(*benchmarks[name]["params"])).index(("'tpa_lstm'", "'cpu'"))
    result = tmp_path / "result.json"
    # A long batch, so that a call takes a small part of it on a busy machine too.
    settings = json.dumps({"sample_time": 0.5, "repeat": [3, 3, 1.0]})
    done = _asv(
        root, "run", str(root / "benchmarks"), f"{name}-{index}", settings, "None", str(result)
    )
    assert done.returncode == 0, done.stderr
    measured = json.loads(result.read_text())
    assert measured["number"] > 1
    assert len(measured["samples"]) >= 3
    assert all(0 < sample < 1 for sample in measured["samples"])
