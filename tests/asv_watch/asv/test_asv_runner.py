"""How asv_runner takes samples: a release that does it in another way would move every value.

When this fails after an upgrade, the new release measures differently: see what changed, raise
the version of the benchmarks, and only then raise the pin.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any

import asv.benchmark
import pytest

from asv_watch.asv.environments import constrain_pip, creating, pinned_asv_runner

SUITE = """
import itertools, json, time
from asv_runner.benchmarks.time import TimeBenchmark

CALLS = []
ticks = itertools.count()

def note(name):
    CALLS.append(name)

def clock():
    note("clock")
    return float(next(ticks))

class Base:
    timer = staticmethod(clock)
    warmup_time = 0

    def teardown(self):
        with open({calls!r}, "w") as stream:
            json.dump(CALLS, stream)

    def time_it(self):
        note("call")

class Fixed(Base):
    number, repeat = 2, 3

class Prepared(Fixed):
    def setup(self):
        note("setup")

class Stops(Base):
    number, repeat = 1, (3, 20, 0.0)

class Warm(Base):
    number, repeat, warmup_time = 1, 2, 0.1

    def time_it(self):
        note("call")
        time.sleep(0.01)

class Batches:
    repeat, sample_time, warmup_time = 2, 0.3, 0

    def time_it(self):
        time.sleep(0.001)

class PreparedBatches(Batches):
    def setup(self):
        pass
"""
ISOLATED = "TimeBenchmark._setup_isolates_timed_calls = False\n"


def _run(folder: Path, suite: str, class_name: str) -> tuple[dict[str, Any], list[str]]:
    """Run a case as asv does; return what asv_runner hands back, and the order of its calls."""
    package = folder / "benchmarks"
    package.mkdir(exist_ok=True)
    (package / "__init__.py").write_text("")
    calls, result = folder / "calls", folder / "result"
    (package / "suite.py").write_text(suite.format(calls=str(calls)))
    name = f"suite.{class_name}.time_it"
    script = [str(asv.benchmark.__file__), "run", str(package), name, "{}", "None", str(result)]
    subprocess.run([sys.executable, *script], check=True, cwd=folder)
    order = json.loads(calls.read_text()) if calls.exists() else []
    return json.loads(result.read_text()), order


SAMPLE = ["clock", "call", "call", "clock"]


def test_a_fixed_number_of_calls_makes_a_sample(tmp_path: Path) -> None:
    result, order = _run(tmp_path, SUITE, "Fixed")
    assert result == {"samples": [0.5, 0.5, 0.5], "number": 2}, "seconds a call"
    assert order == SAMPLE * 3


def test_setup_runs_before_each_call_and_is_not_timed(tmp_path: Path) -> None:
    result, order = _run(tmp_path, SUITE, "Prepared")
    assert result == {"samples": [1.0, 1.0, 1.0], "number": 2}
    one_call = ["setup", "clock", "call", "clock"]
    assert [name for name in order if name != "setup"] == ["clock", "call", "clock"] * 6
    assert order == one_call * 6


def test_our_suites_set_up_once_a_sample(tmp_path: Path, root: Path) -> None:
    assert ISOLATED in (root / "benchmarks" / "_suite.py").read_text()
    result, order = _run(tmp_path, SUITE + ISOLATED, "Prepared")
    assert result == {"samples": [0.5, 0.5, 0.5], "number": 2}
    assert order == ["setup", *SAMPLE] * 3


def test_samples_are_taken_until_the_time_is_up(tmp_path: Path) -> None:
    result, _ = _run(tmp_path, SUITE, "Stops")
    assert len(result["samples"]) == 3, "no more than the least number"


def test_calls_of_the_warm_up_are_no_samples(tmp_path: Path) -> None:
    result, order = _run(tmp_path, SUITE, "Warm")
    assert len(result["samples"]) == 2
    assert order.count("call") > 2


@pytest.mark.parametrize("class_name", ["Batches", "PreparedBatches"])
def test_short_calls_are_batched_to_the_sample_time(tmp_path: Path, class_name: str) -> None:
    result, _ = _run(tmp_path, SUITE + ISOLATED, class_name)
    assert result["number"] >= 10, "a call takes a millisecond, or a few on a busy machine"
    assert len(result["samples"]) == 2


def test_without_that_setting_calls_after_a_setup_are_timed_one_by_one(tmp_path: Path) -> None:
    result, _ = _run(tmp_path, SUITE, "PreparedBatches")
    assert result["number"] == 1


def test_one_release_is_pinned_everywhere(root: Path) -> None:
    project = tomllib.loads((root / "src/asv_watch/pyproject.toml").read_text())["project"]
    pins = [pin for pin in project["dependencies"] if pin.startswith("asv_runner")]
    assert pins == [f"asv_runner=={pinned_asv_runner()}"]
    assert metadata.version("asv_runner") == pinned_asv_runner()


def test_pip_heeds_the_pins_in_a_folder_with_a_space(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pins = tmp_path / "a folder" / "constraints.txt"
    pins.parent.mkdir()
    pins.write_text("psutil==0.0.1\n")
    others = tmp_path / "others.txt"
    others.write_text("orjson==0.0.2\n")
    monkeypatch.setenv("PIP_CONSTRAINT", str(others))
    constrain_pip(pins)
    for name in ("psutil", "orjson"):
        done = subprocess.run(
            [sys.executable, "-m", "pip", "install", "--dry-run", "--no-index", name],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 1
        assert f"{name}==0.0." in done.stdout + done.stderr, "the constraint is what it refuses"


@pytest.mark.parametrize(("holds", "installs"), [("0.2.1", True), (pinned_asv_runner(), False)])
def test_an_environment_with_another_release_gets_the_pinned_one(
    tmp_path: Path, holds: str, installs: bool
) -> None:
    class Environment:
        _path = str(tmp_path)

        def __init__(self) -> None:
            self.asked: list[list[str]] = []

        def _run_pip(self, arguments: list[str]) -> None:
            self.asked.append(arguments)

    packages = tmp_path / "lib" / "python3.11" / "site-packages"
    (packages / f"asv_runner-{holds}.dist-info").mkdir(parents=True)
    environment = Environment()
    creating(lambda self: None)(environment)
    assert environment.asked == [["install", f"asv_runner=={pinned_asv_runner()}"]] * installs
