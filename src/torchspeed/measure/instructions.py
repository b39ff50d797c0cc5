"""Counts the instructions of a pass: a value that no other load on the machine changes.

valgrind's callgrind executes a Python of our own (`torchspeed.measure.counted_process`)
that counts all cases, each from its first to its last instruction and nothing between.
Two runs count the same because nothing that differs between them reaches that process:
addresses are not randomised, sets have one order, of the environment only what is named
here gets in, and what is imported was compiled before.
"""

from __future__ import annotations

import compileall
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import torchspeed
from torchspeed.measure import counted_process
from torchspeed.measure.allocator import SETTINGS
from torchspeed.measure.client_requests import unsupported
from torchspeed.measure.counted_cases import COUNTED, PASSES

_TIME_LIMIT = 800  # s on the wall; all cases take about 80 s of CPU time
_TOTAL = re.compile(r"^totals: (\d+)$", re.MULTILINE)
_MESSAGE_LENGTH = 2000
"""Characters kept of what a failing process wrote: the end of it."""
_PACKAGES = {"valgrind": "valgrind", "setarch": "util-linux"}
"""Program to the Debian package that has it."""

_ENVIRONMENT = {
    **{variable: str(value) for variable, (_, value) in SETTINGS.items()},
    "CUDA_VISIBLE_DEVICES": "",
    "OMP_NUM_THREADS": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONHASHSEED": "0",
    "PYTHONNOUSERSITE": "1",
}
"""All that the counted process gets, whatever the environment of the caller."""


@dataclass
class Counted:
    """The outcome of one case: the mean instructions of each pass, and why one has none."""

    forward: int | None = None
    backward: int | None = None
    error: str = ""


@dataclass
class InstructionCounts:
    """The outcomes of all cases, by workload and batch."""

    cases: dict[tuple[str, int], Counted] = field(default_factory=dict)
    skipped: str = ""
    """Why nothing can be counted on this machine; empty where it can."""


def count_instructions(cases: Sequence[tuple[str, int]]) -> InstructionCounts:
    """Count forward and backward pass of each workload and batch, in one run of valgrind.

    Nothing is raised: what cannot be counted here is ``skipped``, and what went wrong
    is the ``error`` of its case.
    """
    obstacle = _obstacle()
    if obstacle:
        return InstructionCounts(skipped=obstacle)
    _compile()
    # A name of fixed length: that of the working directory is part of the heap.
    with tempfile.TemporaryDirectory(prefix="torchspeed-") as folder:
        try:
            counted = _run([f"{workload}:{batch}" for workload, batch in cases], Path(folder))
        except _CallgrindError as error:
            return InstructionCounts({case: Counted(error=str(error)) for case in cases})
    return InstructionCounts(dict(zip(cases, counted, strict=True)))


class _CallgrindError(Exception):
    """valgrind, or Python under it, failed as a whole."""


def _obstacle() -> str:
    """Return why this machine cannot count, or nothing."""
    if unsupported():
        return unsupported()
    for program, package in _PACKAGES.items():
        if shutil.which(program) is None:
            return f"{program} is not installed; on Debian: apt install {package}"
    fixed = subprocess.run(["setarch", "-R", "true"], capture_output=True, text=True, check=False)
    if fixed.returncode != 0:
        return f"this system does not let addresses be fixed ({fixed.stderr.strip()})"
    return ""


def _compile() -> None:
    """Compile the package, whether or not the caller writes bytecode of what it imports.

    A counted process that had to compile would have another heap than the next one, which
    finds everything compiled. What pip installed is compiled already.
    """
    compileall.compile_dir(Path(torchspeed.__file__).parent, quiet=2)


def _run(cases: Sequence[str], folder: Path) -> list[Counted]:
    """Count in one process of valgrind that works in ``folder``."""
    command = [
        *(shutil.which("setarch") or "", "-R"),
        *(shutil.which("valgrind") or "", "--tool=callgrind", "--vgdb=no"),
        *("--instr-atstart=no", "--collect-atstart=no", "--callgrind-out-file=counts.%p"),
        *(sys.executable, "-P", "-m", counted_process.__name__, *cases),
    ]
    source = str(Path(torchspeed.__file__).parents[1])
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=_ENVIRONMENT | {"PYTHONPATH": source},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        output, errors = process.communicate(timeout=_TIME_LIMIT)
    except subprocess.TimeoutExpired:
        raise _CallgrindError(f"valgrind had not counted within {_TIME_LIMIT} s") from None
    finally:
        process.kill()
        process.wait()
    if process.returncode != 0:
        how = f"valgrind ended with status {process.returncode} before it had counted"
        raise _CallgrindError(f"{how}: {errors.strip()[-_MESSAGE_LENGTH:]}")
    report = json.loads(output)
    return [_counted(folder, report[case]) for case in cases]


def _counted(folder: Path, reported: dict[str, str | int]) -> Counted:
    """Read a case's dumps, one for each pass that was counted."""
    means: dict[str, int] = {}
    for number, name in enumerate(PASSES, start=1):
        dump = folder / f"counts.{reported['process']}.{number}"
        total = _TOTAL.search(dump.read_text()) if dump.exists() else None
        if total is not None:
            means[name] = int(total[1]) // COUNTED
    error = str(reported["error"])
    if len(means) < len(PASSES):
        error = error or "callgrind wrote no count"
    return Counted(**means, error=error)
