"""asv.conf.json and the gate's file, damaged at random: read, or refused in one line."""

from __future__ import annotations

import contextlib
import json
import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asv_watch.asv.settings import read_configuration
from asv_watch.errors import WatchError
from asv_watch.gate.comment import comment
from asv_watch.gate.result import ExactValues, GateCase, read_result
from tests.asv_watch.fuzz.damage import damaged, fuzz, no_hang
from tests.asv_watch.gate.results import change, result
from tests.conftest import git

CONFIGURATION: dict[str, Any] = {
    "version": 1,
    "project": "p",
    "repo": ".",
    "branches": ["main"],
    "environment_type": "virtualenv",
    "benchmark_dir": "benchmarks",
    "matrix": {"req": {"numpy": ["2.4.0"]}, "env_nobuild": {"OMP_NUM_THREADS": ["1"]}},
    "include": [{"req": {"numpy": "2.3.0"}}],
    "package_dir": "src",
    "measured_paths": ["src"],
    "suites": {"suite": {"position": 1, "short": {"size": [1]}, "may_fork": True}},
    "preload": ["json"],
    "fork_safe_from": {"numpy": "2.0"},
    "gpu_cases": "'cuda",
    "environment_gib": 6,
    "reference": "v1@2.4.0",
    "oldest_commit": "100",
    "releases": {"numpy": ["2.4.0", {"numpy": "2.3.0", "scipy": "1.16"}]},
    "release_cases": "time_",
    "machines": ["desk"],
    "layout": {"rows": "size", "columns": ["pass"], "words": {"pass": ["cold"]}},
    "about": ["A sentence."],
    "site_url": "https://example.org",
}
SUITE = (
    "class S:\n    params = [1]\n    param_names = ['size']\n    def time_cold(self, size): ...\n"
)


@fuzz
@given(content=damaged(json.dumps(CONFIGURATION).encode()))
@pytest.mark.fault(
    "random damage",
    tried="asv.conf.json, a few bytes or values of it",
    holds="it is read, or refused in one line",
)
def test_the_configuration(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    root = tmp_path_factory.mktemp("root")
    try:
        (root / "benchmarks").mkdir()
        (root / "benchmarks/suite.py").write_text(SUITE)
        git(root, "init", "--quiet", "--initial-branch=main")
        (root / "asv.conf.json").write_bytes(content)
        with no_hang(), contextlib.suppress(WatchError):
            read_configuration(root)
    finally:
        shutil.rmtree(root)


@pytest.fixture(scope="module")
def gate_file() -> bytes:
    """A result of the gate, as a pull request's code may write it."""
    cases = [
        GateCase("s.time_a", (change(4.0), change(3.5))),
        GateCase("s.track_b", exact=ExactValues(1, 2, "bytes")),
        GateCase("s.time_c", failed="out of cheese"),
    ]
    return msgspec.json.encode(result(*cases))


@fuzz
@given(data=st.data())
@pytest.mark.fault(
    "random damage",
    tried="the file of a gate, a few bytes or values of it",
    holds="a comment is written from it, or it is refused in one line",
)
def test_the_file_of_a_gate(gate_file: bytes, tmp_path_factory: Any, data: Any) -> None:
    path: Path = tmp_path_factory.mktemp("gate") / "gate.json"
    path.write_bytes(data.draw(damaged(gate_file)))
    try:
        with no_hang():
            comment(read_result(path), 0.03)
    except WatchError as error:
        assert "\n" not in str(error)  # noqa: PT017 - whatever it is
    finally:
        shutil.rmtree(path.parent)
