"""tools/gpu.py packs a small project and measures it without a GPU, until it is ended."""

import json
import signal
import subprocess
import sys
import tarfile
from pathlib import Path

from asv_watch.comparison import Outcome
from asv_watch.records.store import newest_of_runs, read_record
from tests.conftest import ROOT, git, make_repository, run

SUITE = """
import time

class Suite:
    params = PARAMS
    sample_time = 0.002
    warmup_time = 0
    rounds = 1

    def setup(self, *case):
        if case[1] == "cuda" and case[-1] != "endless":
            raise NotImplementedError("no GPU on this machine")

    def time_forward(self, *case):
        time.sleep(300 if case[-1] == "endless" else 0.002)
"""
PARAMS = {
    "plain": (["darnn"], ["cpu", "cuda"]),
    "time_series": (["darnn"], ["cpu", "cuda"]),
    "plain_compiled": (["darnn"], ["cuda"], ["compiled"]),
    "plain_graphs": (["darnn"], ["cuda"], ["cudagraph"]),
    "batches": (["darnn"], ["cpu", "cuda"], ["plain"], [1], ["source", 256]),
    "pretrained": (["timesfm"], ["cuda"], ["endless"]),
}
SETTINGS = {"version": 1, "project": "p", "repo": ".", "branches": ["main"]}
SETTINGS |= {"build_command": [], "plugins": [".asv_watch"]}
FILES = {
    "asv.conf.json": json.dumps(SETTINGS),
    ".gitignore": ".asv/\nresults/\nhtml/\n",
    "benchmarks/__init__.py": "",
    **{f"benchmarks/{name}.py": f"PARAMS = {of}\n{SUITE}" for name, of in PARAMS.items()},
    "src/package.py": "",
    "packages/asv-watch/pyproject.toml": "[project]\ndependencies = []\n",
}


def test_all_commands_run_and_what_was_measured_is_brought_back(tmp_path: Path) -> None:
    project, packed, out = tmp_path / "project", tmp_path / "packed", tmp_path / "out"
    make_repository(project, FILES)
    git(project, "tag", "v0.5.0")
    run(sys.executable, ROOT / "tools/gpu.py", "pack", packed, cwd=project)
    command: list[str | Path] = [sys.executable, packed / "gpu.py", "measure", out, "m"]
    variables = {"HOME": str(tmp_path), "TMPDIR": str(tmp_path), "PATH": "/usr/bin:/bin"}
    process = subprocess.Popen(command, env=variables, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    lines = []
    for line in process.stdout:
        lines.append(line)
        if "--cases ^(pretrained" in line:
            process.send_signal(signal.SIGTERM)
    assert process.wait() == 128 + signal.SIGTERM
    commands = [line.split()[0] for line in lines if " --python " in line]
    assert commands == ["compare", "bench", "bench", "bench", "compare", "bench"], lines

    with tarfile.open(out / "results.tar.gz") as archive:
        archive.extractall(tmp_path / "home", filter="data")
    record, problems = read_record(tmp_path / "home/results")
    assert not problems
    [sides] = [each for each in record if each.cases]
    assert set(sides.skipped.values()) == {"no GPU on this machine"}
    assert [case.partition(".")[0] for case in sides.cases] == list(PARAMS)[:4]
    [cases] = newest_of_runs(record).values()
    suite = "{}.Suite.time_forward('darnn', '{}')".format
    skipped = Outcome.SKIPPED, "no GPU on this machine"
    assert cases[suite("plain", "cuda")].outcome(0) == skipped
    assert cases[suite("plain", "cpu")].outcome(0)[0] is Outcome.OK
    for batch in ("'source'", 256):
        case = f"batches.Suite.time_forward('darnn', 'cpu', 'plain', 1, {batch})"
        assert cases[case].outcome(0)[0] is Outcome.OK
    assert not any("endless" in case for case in cases)
