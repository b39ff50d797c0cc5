"""Instruction counts are exact, and what cannot be counted says why."""

from __future__ import annotations

import ast
import json
import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from torchspeed.measure import counted_cases
from torchspeed.measure import instructions as counting
from torchspeed.measure.instructions import count_instructions

CASE = ("tpa_lstm", 8)
Case = tuple[str, int]
Counted = dict[str, int | str | None]

needs_x86_64 = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64",
    reason="requests to valgrind are machine code for x86-64",
)


def _runs(program: str, folder: Path, *arguments: str, **variables: str) -> str:
    """Run Python in a process of its own: counting ends the collection of garbage."""
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")} | variables,
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def _count(source: Path, folder: Path, *cases: Case, **variables: str) -> list[Counted]:
    """Count cases with the package in ``source``, by a process in ``folder``."""
    program = (
        "from torchspeed.measure.instructions import *\n"
        f"counted = count_instructions({cases!r})\n"
        f"print(counted.skipped or [vars(counted.cases[case]) for case in {cases!r}])"
    )
    printed = _runs(program, folder, PYTHONPATH=str(source), **variables)
    counted: list[Counted] = ast.literal_eval(printed)
    assert [of_case["error"] for of_case in counted] == [""] * len(cases), counted
    return counted


MORE = """
from torchspeed.models.registry import register_model
from torchspeed.models.tuned.tpa_lstm import TunedTPALSTM as TPALSTM


@register_model("tpa_lstm_more")
class More(TPALSTM):
    def forward(self, x):
        return super().forward(x.relu() - (-x).relu())  # the same values, by four operators more
"""


@pytest.mark.needs("valgrind")
@needs_x86_64
@pytest.mark.timeout(900)
def test_two_runs_count_the_same_to_the_last_instruction_and_more_work_counts_more(
    tmp_path: Path,
) -> None:
    """The second run has another folder and environment; another model does a little more."""
    source = tmp_path / "src"
    shutil.copytree(ROOT / "src", source, ignore=shutil.ignore_patterns("__pycache__"))
    package = source / "torchspeed"
    (package / "models" / "tpa_lstm_more.py").write_text(MORE)
    workloads = (package / "workloads.py").read_text()
    line = '    _forecast("tpa_lstm", 300, 10, 10, 1),\n'
    assert workloads.count(line) == 1
    added = line + line.replace("tpa_lstm", "tpa_lstm_more")
    (package / "workloads.py").write_text(workloads.replace(line, added))
    cases = (CASE, ("tpa_lstm_more", 8))
    counted = _count(source, tmp_path, *cases)
    elsewhere = tmp_path / "a folder with a longer name"
    elsewhere.mkdir()
    disturbances = {
        "HOME": str(tmp_path),
        "PYTHONHASHSEED": "77",
        "OMP_NUM_THREADS": "2",
        "MALLOC_ARENA_MAX": "1",
        "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0",
        "A_VARIABLE_OF_THE_DAY": "x" * 3000,
    }
    assert _count(source, elsewhere, *cases, **disturbances) == counted
    plain, more = counted
    for name in counted_cases.PASSES:
        before, after = plain[name], more[name]
        assert isinstance(before, int)
        assert isinstance(after, int)
        assert 1.005 * before < after < 1.1 * before


def _only(folder: Path, programs: dict[str, str]) -> None:
    """Make ``folder`` a PATH that has nothing but these programs."""
    for name, script in programs.items():
        program = folder / name
        program.write_text(f"#!{sys.executable}\n{script}\n")
        program.chmod(0o755)


@needs_x86_64
@pytest.mark.parametrize(
    ("missing", "remedy"), [("valgrind", "install valgrind"), ("setarch", "install util-linux")]
)
def test_without_a_program_counts_are_skipped_and_the_remedy_is_named(
    missing: str, remedy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _only(tmp_path, {name: "" for name in ("setarch", "valgrind") if name != missing})
    monkeypatch.setenv("PATH", str(tmp_path))
    counts = count_instructions([CASE])
    assert counts.skipped == f"{missing} is not installed; on Debian: apt {remedy}"
    assert counts.cases == {}


_GOES_ON = "import os, sys; '-R' != sys.argv[1] or os.execvp(sys.argv[2], sys.argv[2:])"


@needs_x86_64
@pytest.mark.parametrize(
    ("valgrind", "output"),
    [
        ("import sys; sys.exit('fatal error: out of memory')", "status 1 .*: fatal error: out of"),
        (  # the process is executed, but nobody counts
            "import json, sys; print(json.dumps({sys.argv[-1]: {'process': 1, 'error': ''}}))",
            "callgrind wrote no count",
        ),
    ],
)
def test_a_failure_of_valgrind_is_a_failure_with_its_message(
    valgrind: str, output: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _only(tmp_path, {"setarch": _GOES_ON, "true": "", "valgrind": valgrind})
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(counting, "_TIME_LIMIT", 3)
    counts = count_instructions([CASE])
    assert counts.skipped == ""
    failed = counts.cases[CASE]
    assert (failed.forward, failed.backward) == (None, None)
    assert re.search(output, failed.error)


def test_the_package_is_compiled_even_for_a_caller_who_writes_no_bytecode(
    tmp_path: Path,
) -> None:
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    program = "from torchspeed.measure import instructions; instructions._compile()"
    source = str(tmp_path / "src")
    _runs(program, tmp_path, PYTHONPATH=source, PYTHONDONTWRITEBYTECODE="1")
    for module in (tmp_path / "src" / "torchspeed").rglob("*.py"):
        assert list(module.parent.glob(f"__pycache__/{module.stem}.*.pyc")), module


@needs_x86_64
def test_a_case_that_fails_says_why_and_costs_no_other(tmp_path: Path) -> None:
    program = "from torchspeed.measure.counted_process import main; main()"
    report = json.loads(_runs(program, tmp_path, "no_such_model:8", "tpa_lstm:2"))
    assert report["no_such_model:8"]["error"].startswith("ValueError: no workload 'no_such_model'")
    assert report["tpa_lstm:2"]["error"] == ""


@needs_x86_64
@pytest.mark.parametrize(
    ("happens", "limit", "output"),
    [
        ("os.abort()", "CASE", "its process ended with status -6"),
        ("sum(iter(int, 1))", "CPU", "it was not counted within 1 s of CPU time"),
    ],
)
def test_a_case_that_crashes_or_hangs_costs_no_other(
    happens: str, limit: str, output: str, tmp_path: Path
) -> None:
    program = (
        "import os, time\n"
        "from torchspeed.measure import counted_cases\n"
        f"counted_cases._{limit}_LIMIT = 1\n"
        f"counted_cases._count = lambda case, callgrind: case == 'bad' and {happens}\n"
        "counted = counted_cases.count(['bad', 'good'])\n"
        "print({case: outcome['error'] for case, outcome in counted.items()})"
    )
    assert ast.literal_eval(_runs(program, tmp_path)) == {"bad": output, "good": ""}
