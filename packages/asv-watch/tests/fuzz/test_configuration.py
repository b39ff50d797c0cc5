"""asv.conf.json and the gate's file, damaged at random: read, or refused in one line."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import example, given

from asv_watch.asv.declared import Declared, SuiteEntry
from asv_watch.asv.selection import SHORT, matching
from asv_watch.asv.settings import Configuration, read_configuration, select_environments
from asv_watch.engine.cases import choose_cases
from asv_watch.errors import WatchError
from asv_watch.night.queue import since
from asv_watch.records.labels import Layout
from asv_watch.records.records import Benchmark
from asv_watch.site.layout import with_columns
from tests.conftest import git
from tests.fuzz.damage import damaged, fuzz, no_hang

PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"
CONFIGURATION: dict[str, Any] = {
    "version": 1,
    "project": "p",
    "repo": ".",
    "branches": ["main"],
    "environment_type": "virtualenv",
    "benchmark_dir": "benchmarks",
    "pythons": [PYTHON],
    "matrix": {"req": {"numpy": ["2.4.0"]}, "env_nobuild": {"OMP_NUM_THREADS": ["1"]}},
    "include": [{"python": PYTHON, "req": {"numpy": "2.3.0"}}],
    "exclude": [{"req": {"numpy": "2.2.0"}}],
    "build_command": ["python -m build"],
    "install_command": ["python -m pip install {wheel_file}"],
    "package_dir": "src",
    "measured_paths": ["src"],
    "suites": {
        "suite": {"position": 1, "short": {"size": [1]}, "may_fork": True, "threshold": "5%"},
        "suite.S": {"ignore": "It is too noisy."},
    },
    "preload": ["json"],
    "preload_for": {"csv": "time_"},
    "fork_safe_from": {"numpy": "2.0"},
    "gpu_cases": "'cuda",
    "environment_gib": 6,
    "import_timeout": 600,
    "clock": "process",
    "reference": "v1@2.4.0",
    "oldest_commit": "100",
    "releases": {"numpy": ["2.4.0", {"numpy": "2.3.0", "scipy": "1.16"}]},
    "release_cases": "time_",
    "night_cases": "time_",
    "machines": ["desk"],
    "layout": {
        "rows": "size",
        "columns": ["pass"],
        "words": {"pass": ["cold"]},
        "labels": {"kind": {"suite": "small"}},
        "spelling": {"cold": "COLD"},
        "operators": {"*cold*": "cold start"},
        "callers": {"inner_product": ["*cold*"]},
        "operator_prefixes": ["aten::"],
        "levels": {"slow": "time_cold"},
    },
    "facts_script": "facts.py",
    "profiler": "profiler.py",
    "published_values": "published.json",
    "case_comparisons": ["compared.json"],
    "about": ["A sentence."],
    "site_url": "https://example.org",
}
SUITE = (
    "class S:\n    params = [1]\n    param_names = ['size']\n    def time_cold(self, size): ...\n"
)


def test_every_key_is_damaged() -> None:
    entries = CONFIGURATION["suites"].values()
    assert _names(Declared) <= set(CONFIGURATION)
    assert _names(Layout) == set(CONFIGURATION["layout"])
    assert _names(SuiteEntry) == {key for entry in entries for key in entry}


def _names(struct: type[msgspec.Struct]) -> set[str]:
    return {field.encode_name for field in msgspec.structs.fields(struct)}


SOUND = json.dumps(CONFIGURATION, indent=1).encode()
WITH_COMMENTS = SOUND.replace(b"\n", b" // why\n", 3)


@fuzz
@given(content=damaged(SOUND) | damaged(WITH_COMMENTS))
@example(content=SOUND)
@example(content=WITH_COMMENTS)
@example(content=json.dumps(CONFIGURATION | {"repo": "x" * 5000}).encode())
def test_the_configuration(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    root = tmp_path_factory.mktemp("root")
    try:
        (root / "benchmarks").mkdir()
        (root / "benchmarks/suite.py").write_text(SUITE)
        git(root, "init", "--quiet", "--initial-branch=main")
        (root / "asv.conf.json").write_bytes(content)
        with no_hang():
            try:
                _use(root, read_configuration(root))
            except WatchError as error:
                assert content not in {SOUND, WITH_COMMENTS}, error  # noqa: PT017
    finally:
        shutil.rmtree(root)


def _use(root: Path, configuration: Configuration) -> None:
    """Do what commands do with settings before they measure."""
    declared = configuration.declared
    benchmark = {"name": "suite.S.time_cold", "param_names": ["size"], "params": [["1"]]}
    described = declared.describe(benchmark | {"type": "time", "unit": "seconds"})
    choose_cases([described], SHORT, declared, needed=False)
    declared.forks_well({"numpy": "2.4.0"})
    since(declared.oldest_commit or "v1", (), configuration.repository)
    select_environments(configuration.environments, "2.4.0")
    matching(declared.release_cases, otherwise=SHORT)
    with_columns(declared.layout, [msgspec.convert(described, Benchmark)])
    declared.layout.operator("aten::cold")
