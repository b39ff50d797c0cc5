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

from asv_watch.asv.environments import constrain_pip, pinned_asv_runner

SUITE = """
import itertools, json
from asv_runner.benchmarks.time import TimeBenchmark

CALLS = []
ticks = itertools.count()

def note(name):
    CALLS.append(name)

def clock():
    note("clock")
    return float(next(ticks))

class Prepared:
    timer = staticmethod(clock)
    warmup_time = 0
    number, repeat = 2, 3

    def setup(self):
        note("setup")

    def teardown(self):
        with open({calls!r}, "w") as stream:
            json.dump(CALLS, stream)

    def time_it(self):
        note("call")
"""
ISOLATED = "TimeBenchmark._setup_isolates_timed_calls = False\n"


def _run(folder: Path, suite: str) -> tuple[dict[str, Any], list[str]]:
    """Run a case as asv does; return what asv_runner hands back, and the order of its calls."""
    package = folder / "benchmarks"
    package.mkdir(exist_ok=True)
    (package / "__init__.py").write_text("")
    calls, result = folder / "calls", folder / "result"
    (package / "suite.py").write_text(suite.format(calls=str(calls)))
    script = [str(asv.benchmark.__file__), "run", str(package)]
    script += ["suite.Prepared.time_it", "{}", "None", str(result)]
    subprocess.run([sys.executable, *script], check=True, cwd=folder)
    order = json.loads(calls.read_text()) if calls.exists() else []
    return json.loads(result.read_text()), order


SAMPLE = ["clock", "call", "call", "clock"]


def test_our_suites_set_up_once_a_sample(tmp_path: Path, root: Path) -> None:
    assert ISOLATED in (root / "benchmarks" / "_suite.py").read_text()
    result, order = _run(tmp_path, SUITE + ISOLATED)
    assert result == {"samples": [0.5, 0.5, 0.5], "number": 2}
    assert order == ["setup", *SAMPLE] * 3


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
