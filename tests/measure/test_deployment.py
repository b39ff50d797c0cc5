"""Models as they are deployed."""

import re
import sys
from pathlib import Path

import pytest
import torch

from tests.conftest import ROOT, run
from torchspeed.measure.compilation import cannot_compile
from torchspeed.measure.deployment import ahead_of_time, deployment_of
from torchspeed.workloads import get_workload


def test_a_model_is_traced_again_for_the_second_batch_alone() -> None:
    deployment = deployment_of("dlinear", "cpu")
    assert deployment.graphs == 2
    assert deployment.export_seconds > 0


@pytest.mark.skipif(bool(cannot_compile("cpu")), reason="nothing compiles here")
def test_a_package_is_compiled_once_and_forecasts_the_same(tmp_path: Path) -> None:
    run = ahead_of_time("dlinear", "cpu", tmp_path)
    workload = get_workload("dlinear")
    with torch.no_grad():
        model = workload.create_model(implementation="plain").eval()
        torch.testing.assert_close(run(), model(workload.example_inputs()))
    package = tmp_path / "dlinear-cpu.pt2"
    written = package.stat().st_mtime_ns
    ahead_of_time.cache_clear()
    ahead_of_time("dlinear", "cpu", tmp_path)
    assert package.stat().st_mtime_ns == written


@pytest.mark.skipif(bool(cannot_compile("cpu")), reason="nothing compiles here")
def test_timesnet_is_left_out_as_long_as_torch_convolves_wrongly() -> None:
    done = run(sys.executable, ROOT / "docs/aoti_convolution.py", status=None)
    wrong = re.findall(r"^(\S+) tensor\((?!0\.\)|\S+e-0)", done.stdout, re.M)
    assert wrong == ["AOTInductor"], "add TimesNet to suite deployment, and delete the script"
