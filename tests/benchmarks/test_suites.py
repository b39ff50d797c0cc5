"""asv sees the suites that the README promises."""

from __future__ import annotations

import ast
import itertools
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import asv.benchmark
import asv.config
import pytest

from asv_watch.asv.cases import case_name, cases_of
from asv_watch.asv.declared import Declared, read_declared
from asv_watch.asv.selection import in_short_set
from asv_watch.records.benchmark_list import more_is_better
from benchmarks import operators, utilisation
from benchmarks._tracked import Measured, _MeasuredOnce, tracked
from benchmarks.allocations import Allocations
from benchmarks.plain import PlainModels
from benchmarks.time_series import TimeSeries
from benchmarks.variants import CNNVariants
from benchmarks.work import PlainWork, Work
from tests.conftest import ROOT
from torchspeed.measure.operators import OPERATORS
from torchspeed.workloads import list_workloads

FORECASTS, LITERAL, SOLAR, CNNS, TORCHVISION = (
    list_workloads(family)
    for family in ("time_series", "flux_literal", "flux_training", "small_cnn", "torchvision")
)
OURS = FORECASTS + CNNS
EVERY = FORECASTS + LITERAL + CNNS + TORCHVISION
PASSES = ("forward", "backward")
FIGURES = [f"{kind}_{name}" for kind in ("time", "peakmem") for name in PASSES]
BOTH, CPU, CUDA = ["cpu", "cuda"], ["cpu"], ["cuda"]
MODES = [*OURS, "resnet18", "squeezenet1_1"]


def _tracks(*kinds: str) -> list[str]:
    return [f"track_{kind}_{name}" for kind in kinds for name in PASSES]


WORK = [*_tracks("flops", "dispatches"), "track_parameter_bytes", "track_activation_bytes"]
COMPILING = [*_tracks("compile_seconds"), "track_graph_breaks", "track_recompilations"]
FLOORS = _tracks("floor_seconds", "times_floor")
RATES = _tracks("flops_per_second", "mfu")
DEVICE = _tracks("device_peak_allocated", "device_peak_reserved")
IMAGE_FORMATS = (["fp32", "bf16"], ["contiguous", "channels_last"])
SUITES = {
    "plain.PlainModels": (FIGURES, (OURS, BOTH)),
    "plain_compiled.PlainCompilation": (COMPILING, (OURS, BOTH)),
    "plain_compiled.PlainCompiled": (FIGURES[:2], (OURS, BOTH, ["compiled"])),
    "time_series.TimeSeries": (FIGURES, (FORECASTS, BOTH)),
    "small_cnns.SmallCNNs": (FIGURES, (CNNS, BOTH)),
    "torchvision_models.TorchvisionModels": (FIGURES, (TORCHVISION, BOTH, [5, 10])),
    "flux_literal.FluxLiteral": (FIGURES, (LITERAL, BOTH)),
    "flux_training.FluxTraining": (
        ["time_five_steps", "peakmem_five_steps"],
        (SOLAR, BOTH, [1]),
    ),
    "flux_training.AllCores": (["time_five_steps"], (SOLAR[:4], CPU, ["all"])),
    "training.TrainingStep": (["time_step"], (OURS + TORCHVISION, BOTH)),
    "modes.Compilation": (COMPILING, (MODES, BOTH)),
    "modes.Modes": (FIGURES[:2], (MODES, BOTH, ["eager", "compiled", "cudagraph"])),
    "variants.TimeSeriesVariants": (FIGURES[:2], (FORECASTS, BOTH, ["fp32", "bf16"])),
    "variants.CNNVariants": (
        FIGURES[:2],
        ([*CNNS, "resnet18", "resnet50", "squeezenet1_1"], BOTH, *IMAGE_FORMATS),
    ),
    "operators.Forward": (
        ["time_forward"],
        (list(OPERATORS), BOTH, ["fp32", "bf16", "fp16"], ["small", "large"]),
    ),
    "operators.Backward": (
        ["time_backward"],
        (list(OPERATORS), BOTH, ["fp32", "bf16", "fp16"], ["small", "large"]),
    ),
    "work.PlainWork": (WORK, (OURS, CPU)),
    "work.Work": (WORK, (EVERY, CPU)),
    "work.TrainingWork": (WORK, (SOLAR, CPU)),
    "allocations.Allocations": (_tracks("allocations", "allocated"), (EVERY, BOTH)),
    "instructions.Instructions": (_tracks("instructions"), ([*FORECASTS, "lenet5"], CPU, [8])),
    "floor.Eager": (FLOORS, (OURS, BOTH, ["eager"])),
    "floor.Compiled": (FLOORS, (OURS, BOTH, ["compiled"])),
    "utilisation.TimeSeries": (RATES, (FORECASTS, BOTH)),
    "utilisation.FluxLiteral": (RATES, (LITERAL, BOTH)),
    "utilisation.SmallCNNs": (RATES, (CNNS, BOTH)),
    "utilisation.Torchvision": (RATES, (TORCHVISION, BOTH)),
    "utilisation.DevicePeak": (["track_peak_flops_per_second"], (BOTH, ["float32", "tf32"])),
    "device_memory.DeviceMemory": (DEVICE, (FORECASTS + LITERAL + CNNS, CUDA)),
    "device_memory.TorchvisionDeviceMemory": (DEVICE, (TORCHVISION, CUDA, [5, 10])),
}
"""Suite to its figures and the values of its parameters."""

RECIPE_OF_PASSES = "rounds=3 repeat=2,20,0.5 sample_time=0.02 warmup_time=0.1"
RECIPE_1 = {
    "flux_training.AllCores": "rounds=3 repeat=1,20,0.5 warmup_time=0.1 number=1",
    "flux_training.FluxTraining": "rounds=3 repeat=1,20,0.5 warmup_time=0.1 number=1",
    "modes.Modes": "rounds=1 repeat=8,20,1 sample_time=0.02 warmup_time=0.1",
    "plain_compiled.PlainCompiled": "rounds=1 repeat=8,20,1 sample_time=0.02 warmup_time=0.1",
    "training.DataLoading": "rounds=1 repeat=5,20,4 warmup_time=0 number=1",
    "training.FluxCNNEpoch": "rounds=1 repeat=1,3,10 warmup_time=0 number=1",
}
"""Suites to how they are sampled where that is not `RECIPE_OF_PASSES`."""
ASV_RUNNER = "asv_runner 0.3.2"


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
    described = map(_declared(root).describe, json.loads(match.read_text()))
    return {benchmark["name"]: benchmark for benchmark in described}


def _declared(root: Path) -> Declared:
    return read_declared(asv.config.Config.load(str(root / "asv.conf.json")), root)


@pytest.mark.parametrize("suite", SUITES)
def test_a_suite_has_its_figures_for_every_workload_on_every_device(
    benchmarks: dict[str, Any], suite: str
) -> None:
    figures, params = SUITES[suite]
    found = [name for name in benchmarks if name.startswith(f"{suite}.")]
    assert set(found) == {f"{suite}.{figure}" for figure in figures}
    for name in found:
        assert benchmarks[name]["params"] == [list(map(repr, values)) for values in params]


def test_values_have_units_and_only_rates_and_shares_are_better_higher(
    benchmarks: dict[str, Any],
) -> None:
    for name, benchmark in benchmarks.items():
        higher = bool(benchmark.get("higher_is_better"))
        assert benchmark["unit"], name
        assert higher == (benchmark["unit"] in {"FLOP/s", "%"}), name
        assert higher or not more_is_better(benchmark["unit"]), name


def test_every_decorated_skip_says_why(benchmarks: dict[str, Any]) -> None:
    decorated = [value for value in benchmarks.values() if value.get("skip_params")]
    assert decorated
    assert [entry["name"] for entry in decorated if not entry.get("skipped_because")] == []


def test_all_cores_are_timed_by_wall_time() -> None:
    code = (
        "import os, time, torch; from benchmarks.flux_training import AllCores; s = AllCores();"
        "s.setup('lstnet_solar', 'cpu', 'all'); assert s.timer is time.perf_counter;"
        "assert torch.get_num_threads() == len(os.sched_getaffinity(0))"
    )
    path = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "src")))}
    subprocess.run([sys.executable, "-c", code], check=True, env=path)


def test_the_recipe_is_frozen(benchmarks: dict[str, Any]) -> None:
    for name, benchmark in benchmarks.items():
        code, _, sampling = benchmark["version"].partition("; ")
        assert code.isdigit()
        recipe = RECIPE_1.get(name.rpartition(".")[0], RECIPE_OF_PASSES)
        expected = {"time": f"{recipe}; {ASV_RUNNER}", "peakmemory": ASV_RUNNER, "track": ""}
        assert sampling == expected[benchmark["type"]], (
            f"{name} is sampled by {sampling!r}, no longer by recipe 1, "
            f"{expected[benchmark['type']]!r}: all absolute values would start anew. Put it back, "
            'or do what docs/measuring.md says under "Recipe 1" and write the new recipe here'
        )
        if benchmark["type"] == "time":
            named = dict(part.split("=") for part in recipe.split())
            for setting in named.keys() - {"repeat"}:  # asv lists only single values
                assert float(named[setting]) == benchmark[setting]


def test_another_recipe_is_another_version() -> None:
    class Slower(TimeSeries):
        warmup_time = 0.4

    assert vars(Slower.time_forward)["version"] != vars(TimeSeries.time_forward)["version"]
    assert vars(Slower.peakmem_forward)["version"] == vars(TimeSeries.peakmem_forward)["version"]


def test_the_plain_models_come_first_and_what_repeats_them_is_not_in_the_short_set(
    benchmarks: dict[str, Any],
) -> None:
    positions = {name: b.get("position", 5) for name, b in benchmarks.items()}
    assert min(positions, key=positions.__getitem__).startswith("plain.")
    cases, short = [], []
    for benchmark in benchmarks.values():
        for params in cases_of(benchmark):
            cases.append(case_name(benchmark, params))
            if in_short_set(benchmark, params):
                short.append(cases[-1])
    left_out = {"modes", "plain_compiled", "allocations", "operators"}
    families = {case.split(".")[0] for case in short}
    assert families.isdisjoint(left_out)
    assert families | left_out >= {suite.split(".")[0] for suite in SUITES}
    assert len(short) < len(cases) / 2
    plain = [case for case in short if case.startswith("plain.PlainModels.time_forward")]
    models = {ast.literal_eval(case.partition("time_forward")[2])[0] for case in plain}
    assert models == {"darnn", "dsanet", "lstnet", "tpa_lstm", "flux_cnn", "lenet5"}


def test_what_is_declared_of_a_suite_fits_its_benchmarks(
    root: Path, benchmarks: dict[str, Any]
) -> None:
    for name in _declared(root).suites:
        assert any(f"{benchmark}.".startswith(f"{name}.") for benchmark in benchmarks), name
    forked = {name for name, benchmark in benchmarks.items() if benchmark.get("may_fork")}
    compiling = {name for name in benchmarks if name.startswith(("floor.Compiled", "modes."))}
    assert forked.isdisjoint(compiling)
    assert {benchmarks[name]["type"] for name in forked} == {"track"}


class _ThreeCases(_MeasuredOnce):
    params = (["sound", "broken", "absent"],)
    param_names = ("name",)
    measured_cases: list[str]

    def measure(self, name: str) -> Measured:
        type(self).measured_cases.append(name)
        if name == "absent":
            raise NotImplementedError("no such device")
        return {"level": {"value": 7 // (name != "broken")}, "none": None, "error": "it died"}

    track_value = tracked("level", "value", unit="units", scale=100)
    track_none = tracked("none", unit="units")


def test_a_case_is_measured_once_a_run_and_what_fails_leaves_the_others(tmp_path: Path) -> None:
    _ThreeCases.measured_cases = []
    for _ in range(2):
        suite = _ThreeCases()
        suite.setup(str(tmp_path), "sound")
        assert suite.track_value(str(tmp_path), "sound") == 700
        with pytest.raises(RuntimeError, match="it died"):
            suite.track_none(str(tmp_path), "sound")
        with pytest.raises(RuntimeError, match="ZeroDivisionError"):
            suite.setup(str(tmp_path), "broken")
        with pytest.raises(NotImplementedError, match="no such device"):
            suite.setup(str(tmp_path), "absent")
    assert _ThreeCases.measured_cases == ["sound", "broken", "absent"]


def test_what_a_commit_lacks_is_skipped_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    for suite in (utilisation.TimeSeries(), Work(), Allocations()):
        with pytest.raises(NotImplementedError, match="this commit has no workload 'unborn'"):
            suite.measure("unborn", "cpu")
    with pytest.raises(NotImplementedError, match="this commit has no workload 'unborn'"):
        TimeSeries().setup("unborn", "cpu")
    with pytest.raises(NotImplementedError, match="this commit has no operator 'unborn'"):
        operators.Forward().setup("unborn", "cpu", "fp32", "small")

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
    models = [type(suite.passes._model).__name__ for suite in (plain, tuned)]
    assert models == ["LSTNet", "TunedLSTNet"]
    flops = [suite.measure("lstnet", "cpu")["forward"]["flops"] for suite in (PlainWork(), Work())]
    assert flops[0] < flops[1], "the tuned convolution multiplies by zeros"


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


@pytest.mark.parametrize(
    "name",
    [
        "plain.PlainModels.time_forward",
        "flux_training.AllCores.time_five_steps",
        "modes.Modes.time_forward",
        "device_memory.DeviceMemory.track_device_peak_allocated_forward",
    ],
)
def test_what_the_first_commit_of_the_package_lacked_is_skipped(
    root: Path, tmp_path: Path, name: str
) -> None:
    """An empty package stands for any older commit: every suite skips, none fails."""
    (tmp_path / "torchspeed").mkdir()
    (tmp_path / "torchspeed" / "__init__.py").write_text("")
    (tmp_path / "cache.pickle").write_bytes(pickle.dumps(str(tmp_path)))
    arguments = (f"{name}-0", "{}", "None", str(tmp_path / "result.json"))
    done = _asv(tmp_path, "run", str(root / "benchmarks"), *arguments, package=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "skipped: NotImplementedError('this commit" in done.stdout, name


def test_short_calls_are_timed_in_batches_and_set_up_once(
    root: Path, benchmarks: dict[str, Any], tmp_path: Path
) -> None:
    name = "time_series.TimeSeries.time_forward"
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


def test_asv_hands_the_phases_of_one_run_to_every_case(root: Path, tmp_path: Path) -> None:
    # As the first case leaves it behind for the others. Set 8 is smooth inference: cpu, small.
    seconds = {"data loading": 1.5, "data processing": 2.5, "forward": 3.5}
    name = "benchmarks.training-BenchmarkJade-smooth-inference-cpu-small.json"
    (tmp_path / name).write_text(json.dumps(seconds))
    (tmp_path / "cache.pickle").write_bytes(pickle.dumps(str(tmp_path)))
    result = tmp_path / "result.json"
    for phase, figure in (("data_processing", 2.5), ("forward", 3.5)):
        case = f"training.BenchmarkJade.track_{phase}-8"
        done = _asv(tmp_path, "run", str(root / "benchmarks"), case, "{}", "None", str(result))
        assert done.returncode == 0, done.stderr
        assert json.loads(result.read_text()) == figure
