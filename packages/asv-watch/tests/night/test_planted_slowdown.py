"""A slowdown of 7 % goes the whole way in one night; what changes nothing says nothing."""

import json
import math
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from asv_watch.errors import WatchError
from asv_watch.judge.changes import Change, analyse
from asv_watch.night.command import parse_part
from asv_watch.records.history import History, load_history
from asv_watch.versions.git import read_commits
from tests.clockwork import SUITE, package
from tests.conftest import commit, git
from tests.interruptible import run_driver
from tests.stored import result_file

PROFILER = """
# Reports two operators, which together take as long as the package says.
import json

from package import SECONDS

KEPT = 0.0008
seconds = {"aten::add": KEPT, "aten::cumsum": SECONDS["slow"] - KEPT}
operators = [
    {"name": name, "shapes": "[[8]]", "calls": 1, "seconds": value}
    for name, value in seconds.items()
]
print(json.dumps({"operators": operators, "kernels": [], "counts": {}}))
"""


@pytest.fixture
def project(make_project: Callable[..., Path]) -> Path:
    """Ten measured commits, then three more; the middle one makes one of two cases 7 % slower."""
    files = {"src/package.py": package(), "profiler.py": PROFILER}
    root = make_project(SUITE, files, measured_paths=["src"], profiler="profiler.py")
    for number in range(10):
        commit(root, {"src/package.py": f"# {number}\n{package()}"}, f"Comment {number}")
    commit(root, {"src/package.py": package(slow=0.00107)}, "Do more")
    commit(root, {"src/package.py": "# No comment.\n" + package(slow=0.00107)}, "Comment more")
    return root


def _findings(project: Path) -> tuple[History, tuple[Change, ...]]:
    history = load_history(project / "results", read_commits(project))
    return history, analyse(history).changes


def _pretend_history(project: Path, result: Path) -> None:
    """Store results of the ten commits, than which HEAD is slower in one of its two cases."""
    newest = json.loads(result.read_text())
    column = newest["result_columns"].index("result")
    for number, hash_ in enumerate(git(project, "rev-list", "HEAD~3").split()):
        earlier = json.loads(result.read_text()) | {"commit_hash": hash_}
        factor = 1 + 0.001 * math.cos(7 * number)
        for row in earlier["results"].values():
            plain, slow = row[column]
            row[column] = [factor * plain, factor * slow / 1.07]
        name = result.name.replace(newest["commit_hash"][:8], hash_[:8])
        result.with_name(name).write_text(json.dumps(earlier))


@pytest.mark.timeout(1800)
def test_a_slowdown_of_7_percent_goes_the_whole_way_in_one_night(
    project: Path, tmp_path: Path
) -> None:
    run_driver("bench", project, tmp_path)
    _pretend_history(project, result_file(project))
    *_, before, culprit, newest = git(project, "rev-list", "--reverse", "HEAD").split()
    history, [suspicion] = _findings(project)
    assert (suspicion.state, suspicion.kind) == ("suspected", "time")
    assert history.commits[suspicion.commit].hash == newest

    output, _ = run_driver("nightly", project, tmp_path, "--budget", "10min")
    assert output.index("new commit:") < output.index("measured change:")
    assert "nothing is left to be done tonight" in output
    assert re.search(r"smallest detectable change: median 1\.\d %", output)
    history, [change] = _findings(project)
    assert change.state == "measured"
    ends = tuple(history.commits[at].hash for at in (change.previous, change.commit))
    assert ends == (before, culprit)
    assert change.ratio == pytest.approx(1.07, abs=0.003)
    assert change.compared is not None
    assert change.compared.interval[0] > 1

    index = json.loads((project / "html/index.json").read_text())
    assert "made 1 case slower" in index["overview"]["headline"]
    [shown] = index["changes"]
    assert re.fullmatch(r"\+[67]\.\d %", shown["text"])
    assert index["commits"][shown["c"]][0] == culprit
    assert "all of it: aten::cumsum" in shown["cause"]
    report, _ = run_driver("report", project, tmp_path)
    assert re.match(r"### `.* slow`: worse, \+[67]\.\d\s% \(", report)
    assert f"- **Commit**: {culprit[:8]}\n" in report
    assert "- **Cause**: `all of it: aten::cumsum" in report
    assert "plain" not in report

    again, _ = run_driver("nightly", project, tmp_path, "--budget", "10min")
    assert "measured change:" not in again
    assert "new commit:" not in again


def test_what_prevents_a_night_is_named(project: Path, tmp_path: Path) -> None:
    _, errors = run_driver("nightly", project, tmp_path, "--part", "1/2", status=1)
    assert "--part needs a reference" in errors
    (project / "results/m").touch()
    output, errors = run_driver("nightly", project, tmp_path, status=3)
    reason = "results/m: File exists; a folder is needed there: move the file away"
    assert errors.count(reason) == 2
    assert "the night ends: this machine cannot measure now" in output


@pytest.mark.parametrize("text", ["", "2", "0/3", "4/3", "1/0", "a/b", "-1/2", "1/2/3", "1.5/2"])
def test_what_is_no_part_is_refused(text: str) -> None:
    with pytest.raises(WatchError, match="is not a part of the commits; give one such as 2/5"):
        parse_part(text)
