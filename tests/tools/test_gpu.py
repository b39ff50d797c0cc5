"""tools/gpu.py packs a small project and measures it without a GPU, while there is time."""

import json
import signal
import subprocess
import sys
import tarfile
from pathlib import Path

from asv_watch.comparison import Outcome
from asv_watch.records.store import newest_of_runs, read_record
from tests.conftest import ROOT, git, run

SUITE = """
import time

class Suite:
    params = PARAMS
    sample_time = 0.002
    warmup_time = 0
    rounds = 1

    def setup(self, *case):
        if case[1] == "cuda":
            raise NotImplementedError("no GPU on this machine")

    def time_forward(self, *case):
        time.sleep(SECONDS.get(case[-1], 0.001))
"""
PARAMS = {
    "plain": (["darnn"], ["cpu", "cuda"]),
    "time_series": (["darnn"], ["cpu", "cuda"]),
    "plain_compiled": (["darnn"], ["cuda"], ["compiled"]),
    "plain_graphs": (["darnn"], ["cuda"], ["cudagraph"]),
    "batches": (["darnn"], ["cpu", "cuda"], ["plain"], [1], ["source", 256]),
    "pretrained": (["timesfm"], ["cuda"], ["bfloat16"]),
}
MEASURED = "batches.Suite.time_forward('darnn', 'cpu', 'plain', 1, 'source')"
SLOW = "batches.Suite.time_forward('darnn', 'cpu', 'plain', 1, 256)"
SKIPPED = {
    "plain.Suite.time_forward('darnn', 'cuda')",
    "pretrained.Suite.time_forward('timesfm', 'cuda', 'bfloat16')",
}


def _measure(tmp_path: Path, slow_s: float) -> subprocess.Popen[str]:
    """Pack a project whose case `SLOW` takes so many seconds, and start to measure it."""
    settings = {"version": 1, "project": "p", "repo": ".", "branches": ["main"]}
    settings |= {"build_command": [], "plugins": [".asv_watch"]}
    files = {
        "asv.conf.json": json.dumps(settings),
        ".gitignore": ".asv/\nresults/\nhtml/\n",
        "benchmarks/__init__.py": "",
        **{
            f"benchmarks/{name}.py": f"PARAMS = {params}\nSECONDS = {{256: {slow_s}}}\n{SUITE}"
            for name, params in PARAMS.items()
        },
        "src/package.py": "",
        "packages/asv-watch/pyproject.toml": "[project]\ndependencies = []\n",
    }
    project = tmp_path / "project"
    for name, text in files.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text)
    git(project, "init", "--quiet", "--initial-branch=main")
    git(project, "add", "--all")
    git(project, "commit", "--quiet", "--message", "Begin")
    git(project, "tag", "v0.5.0")
    packed = tmp_path / "packed"
    run(sys.executable, ROOT / "tools/gpu.py", "pack", packed, cwd=project)
    script, out = str(packed / "gpu.py"), str(tmp_path / "out")
    command = [sys.executable, script, "measure", out, "m"]
    variables = {"HOME": str(tmp_path), "TMPDIR": str(tmp_path), "PATH": "/usr/bin:/bin"}
    return subprocess.Popen(command, env=variables, stdout=subprocess.PIPE, text=True)


def _brought_back(folder: Path) -> dict[str, tuple[Outcome, str]]:
    """Return the outcome of each case in the packed results, with the reason."""
    with tarfile.open(folder / "out/results.tar.gz") as archive:
        archive.extractall(folder / "home", filter="data")
    record, problems = read_record(folder / "home/results")
    assert not problems
    [sides] = [each for each in record if each.cases]
    assert set(sides.skipped.values()) == {"no GPU on this machine"}
    assert [case.partition(".")[0] for case in sides.cases] == list(PARAMS)[:4]
    [cases] = newest_of_runs(record).values()
    return {name: case.outcome(0) for name, case in cases.items()}


def test_all_commands_run_and_cases_of_a_gpu_are_skipped_with_their_reason(tmp_path: Path) -> None:
    process = _measure(tmp_path, slow_s=0.002)
    output, _ = process.communicate()
    assert process.returncode == 0, output
    commands = [line.split()[0] for line in output.splitlines() if " --python " in line]
    assert commands == ["compare", "bench", "bench", "bench", "compare", "bench"], output
    outcomes = _brought_back(tmp_path)
    skipped = Outcome.SKIPPED, "no GPU on this machine"
    assert {outcomes[name] for name in SKIPPED} == {skipped}
    assert {outcomes[name][0] for name in (MEASURED, SLOW)} == {Outcome.OK}


def test_what_was_measured_is_brought_back_if_it_is_ended(tmp_path: Path) -> None:
    process = _measure(tmp_path, slow_s=300)
    assert process.stdout is not None
    lines = iter(process.stdout.readline, "")
    assert any(MEASURED in line for line in lines), "it ended early"
    assert any("(1|32|" in line for line in lines), "the command with the slow case did not begin"
    process.send_signal(signal.SIGTERM)
    process.communicate()
    assert process.returncode == 128 + signal.SIGTERM
    outcomes = _brought_back(tmp_path)
    assert outcomes[MEASURED][0] is Outcome.OK
    assert SLOW not in outcomes
