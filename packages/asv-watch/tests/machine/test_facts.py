"""What a machine and an environment are and do is read, in full, and nothing is set."""

import json
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from asv_watch import probes
from asv_watch.machine.facts import machine_facts, machine_state
from tests.conftest import run, write_program

NVIDIA_SMI = """#!/bin/sh
echo "$@" >> {asked}
case "$1" in
*temperature*) echo "1980 MHz, 2619 MHz, 41, 119.86 W, 700.00 W, 0 %, 4 MiB, P0, 0x0000000000000000" ;;
*) echo "NVIDIA H200, 143771 MiB, 580.105.08, 96.00.CF.00.03, 700.00 W, Enabled, Default, Disabled, [N/A], 1980 MHz" ;;
esac
"""  # noqa: E501


def test_a_machine_tells_its_processor_memory_and_system() -> None:
    facts = machine_facts()
    assert {"cpu", "ram", "cores", "kernel", "distribution", "swap", "arch"} <= facts.keys()
    assert all(isinstance(value, str) and value for value in facts.values())
    assert machine_facts() == facts, "a fact stays while nobody changes anything"


def test_the_kernels_files_are_read(tmp_path: Path) -> None:
    cpu = tmp_path / "sys/devices/system/cpu"
    files = {
        cpu / "cpu0/cache/index0/level": "1",
        cpu / "cpu0/cache/index0/type": "Data",
        cpu / "cpu0/cache/index0/size": "48K",
        cpu / "cpu0/cache/index0/shared_cpu_list": "0,4",
        cpu / "cpu0/cpufreq/scaling_governor": "performance",
        cpu / "cpu1/cpufreq/scaling_governor": "powersave",
        cpu / "intel_pstate/no_turbo": "1",
        tmp_path / "sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never",
        tmp_path / "proc/cpuinfo": "processor\t: 0\nmicrocode\t: 0xb000040\n",
    }
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n")
    facts = machine_facts(tmp_path)
    assert facts["cache L1d"] == "48K, shared by CPUs 0,4"
    assert facts["governor"] == "performance, powersave"
    assert facts["no turbo"] == "1"
    assert facts["transparent huge pages"] == "madvise"
    assert facts["microcode"] == "0xb000040"
    bare = machine_facts(tmp_path / "nothing")
    assert "governor" not in bare, "a machine that hides it has no such fact"


def test_a_gpu_tells_what_it_is_and_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = tmp_path / "asked"
    write_program(tmp_path / "nvidia-smi", NVIDIA_SMI.format(asked=asked))
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    facts = machine_facts()
    assert facts["gpu 0 name"] == "NVIDIA H200"
    assert facts["gpu 0 memory"] == "143771 MiB"
    assert facts["gpu 0 driver"] == "580.105.08"
    assert facts["gpu 0 power limit"] == "700.00 W"
    assert "gpu 0 ECC" not in facts, "what it does not know is left out"
    [state] = machine_state()["gpus"]
    assert state["sm_mhz"] == 1980
    assert state["celsius"] == 41
    assert state["power_limit_w"] == 700
    assert state["performance_state"] == "P0"
    for question in asked.read_text().splitlines():
        query, form = question.split(" ")
        assert query.startswith("--query-gpu="), "the device is only ever asked"
        assert form == "--format=csv,noheader"


def _printed(script: Path, *arguments: str, **variables: str) -> Any:
    """What a script prints with only these environment variables."""
    done = run(sys.executable, "-P", script, *arguments, env=variables)
    return json.loads(done.stdout)


def test_python_packages_and_variables_are_told() -> None:
    variables = {"OMP_NUM_THREADS": "1", "MALLOC_TOP_PAD_": "65536", "EDITOR": "hush"}
    output = _printed(probes.ENVIRONMENT, "msgspec", "no-such-package", **variables)
    facts = output["facts"]
    assert facts["interpreter"].startswith("CPython")
    assert facts["package msgspec"] == metadata.version("msgspec")
    assert "package no-such-package" not in facts
    assert facts["variable MALLOC_TOP_PAD_"] == "65536"
    assert "hush" not in json.dumps(output)
    assert output["details"] == {"asv_runner": metadata.version("asv_runner")}


def test_an_import_is_timed_by_the_name_of_its_distribution() -> None:
    assert 0 < _printed(probes.IMPORTING, "pyyaml") < 60
