"""By hand and in asv's environments the allocator behaves alike."""

import os
import sys
from platform import libc_ver

import pytest

from tests.conftest import run
from torchspeed.measure.processes import SETTINGS

COUNT_FAULTS = """
import ctypes, resource, sys
ctypes.CDLL(None).prctl(41, 1, 0, 0, 0)  # PR_SET_THP_DISABLE: every page is one of 4 KiB
if "torchspeed" in sys.argv:
    from torchspeed.cli.main import main
    main(["list", "--help"])
import torch
from torchspeed.measure.passes import Passes
backward = Passes("lenet5", "cpu").backward
def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(3):
    backward()
before = faults()
for _ in range(10):
    backward()
print((faults() - before) / 10)
"""
VARIABLES = {variable: str(value) for variable, (_, value) in SETTINGS.items()}
GLIBC_AT_FIRST = {"MALLOC_MMAP_THRESHOLD_": "131072", "MALLOC_TRIM_THRESHOLD_": "131072"}
"""What glibc starts with. Named, they stay so; left out, glibc raises them when a large block
is freed, and how many faults a pass then has differs from process to process."""


def faults_of_a_pass(*arguments: str, **variables: str) -> float:
    """Page faults of one backward pass of LeNet-5, in a fresh process."""
    left_out = {*VARIABLES, "GLIBC_TUNABLES"}
    bare = {name: value for name, value in os.environ.items() if name not in left_out}
    done = run(sys.executable, "-c", COUNT_FAULTS, *arguments, env=bare | variables)
    return float(done.stdout.splitlines()[-1])


@pytest.mark.skipif(libc_ver()[0] != "glibc", reason="its malloc is tested")
def test_a_pass_by_hand_faults_in_as_few_pages_as_one_that_asv_runs() -> None:
    plain = faults_of_a_pass(**GLIBC_AT_FIRST)
    by_asv = faults_of_a_pass(**VARIABLES)
    by_hand = faults_of_a_pass("torchspeed")
    assert plain > 500, "without settings this pass gives its memory back and faults it in again"
    assert by_asv < plain / 20
    assert abs(by_hand - by_asv) < plain / 20
