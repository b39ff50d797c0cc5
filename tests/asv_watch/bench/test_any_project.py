"""Every job that watches works in a project that has to be built and knows no torch."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from asv_watch.cli.main import main
from tests.asv_watch import torchless
from tests.asv_watch.interruptible import start_driver
from tests.conftest import commit, git

SUITE = """
import time

class Suite:
    params = ["quick", "slow"]
    param_names = ["way"]
    timer = time.process_time
    sample_time, warmup_time, rounds, repeat = 0.005, 0.01, 2, 10

    def time_work(self, way):
        from package import work
        work(way)
"""
PACKAGE = """
def work(way):
    for _ in range({slow} if way == "slow" else 1000):
        sum(range(20))
"""
BUILD = """
import sys, zipfile
commit_has, to = sys.argv[1:]
with zipfile.ZipFile(to + "/package-1-py3-none-any.whl", "w") as wheel:
    wheel.write(commit_has + "/package.py", "package.py")
    for name, text in {
        "METADATA": "Metadata-Version: 2.1\\nName: package\\nVersion: 1\\n",
        "WHEEL": "Wheel-Version: 1.0\\nTag: py3-none-any\\n",
        "RECORD": "",
    }.items():
        wheel.writestr("package-1.dist-info/" + name, text)
"""
BUILT = torchless.PUBLISHED | {
    "plugins": [".asv_watch"],
    "project": "package",
    "measured_paths": [],
    "build_command": ["python {build_dir}/build_wheel.py {build_dir} {build_cache_dir}"],
    "install_command": [
        "in-dir={env_dir} python -m pip install --no-index --force-reinstall {wheel_file}"
    ],
    "uninstall_command": ["return-code=any python -m pip uninstall -y package"],
}


@pytest.fixture
def project(make_project: Callable[..., Path]) -> Path:
    """Three commits of a package that lies beside its suites; the last one does more work."""
    files = {
        "asv.conf.json": json.dumps(BUILT),
        "package.py": PACKAGE.format(slow=1000),
        "build_wheel.py": BUILD,
    }
    root = make_project(SUITE, files)
    commit(root, {"README": "x"}, "Document")
    commit(root, {"package.py": PACKAGE.format(slow=1600)}, "Do more in one way")
    return root


def _run(project: Path, home: Path, *arguments: str) -> str:
    process = start_driver(arguments[0], project, home, *arguments[1:])
    printed, wrong = process.communicate()
    assert process.returncode == 0, printed + wrong
    assert "torch" not in re.sub("torchspeed", "", printed)
    return printed


def test_every_job_works_with_commits_that_have_to_be_built(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    printed = _run(project, tmp_path, "compare", "--before", "HEAD~2", "--cases", "")
    [slow] = re.findall(r"^\| `suite\.Suite\.time_work\('slow'\)` .*$", printed, re.M)
    [quick] = re.findall(r"^\| `suite\.Suite\.time_work\('quick'\)` .*$", printed, re.M)
    assert slow.split("|")[-2].strip() == "slower", printed
    assert 1.3 < float(slow.split("|")[4]) < 1.9
    assert quick.split("|")[-2].strip() == "same"
    printed = _run(project, tmp_path, "bisect", "--cases", "slow", "--before", "HEAD~2")
    head = git(project, "rev-parse", "--short", "HEAD")
    assert f"{head} Do more in one way" in printed.splitlines()[-1]
    # What slowed down would be confirmed and explained as well, which others test.
    printed = _run(project, tmp_path, "nightly", "--budget", "20min", "--cases", "quick")
    assert "nothing is left to be done tonight" in printed
    measured = {path.name[:8] for path in (project / "results" / "m").glob("*-*.json")}
    assert measured == {commit[:8] for commit in git(project, "rev-list", "HEAD").split()}
    assert (project / "html" / "index.html").exists()
    stored = project / "results"
    assert "not verified" not in _notices(project)
    printed = _run(project, tmp_path, "verify")
    answer = r"^(\d) of \1 cases of [0-9a-f]{8} agree within 25%: verified$"
    assert re.search(answer, printed, re.M)
    for path in (stored / "m").glob("*-*.json"):
        content = json.loads(path.read_text())
        content["params"]["machine"] = "n"
        (stored / "n").mkdir(exist_ok=True)
        (stored / "n" / path.name).write_text(json.dumps(content))
    facts = json.loads((stored / "m/machine.json").read_text())
    (stored / "n/machine.json").write_text(json.dumps(facts | {"machine": "n"}))
    monkeypatch.chdir(project)
    assert main(["publish"]) == 0
    assert "Results of n are not verified" in _notices(project)
    printed = _run(project, tmp_path, "calibrate", "--runs", "2", "--comparisons", "0")
    assert re.search(r"commit [0-9a-f]{8}, 2 runs in ", printed)
    assert "Separate runs, " in printed
    assert _run(project, tmp_path, "report")


def _notices(project: Path) -> str:
    page = (project / "html/index.html").read_text()
    return " ".join(" ".join(re.findall(r'<p class="notice"[^>]*>(.*?)</p>', page, re.S)).split())
