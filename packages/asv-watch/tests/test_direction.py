"""Every command and the page agree on whether more of a tracked value is better."""

import json
from collections.abc import Callable
from pathlib import Path

from asv_watch.errors import ExitStatus
from asv_watch.records.store import read_record
from asv_watch.statistics.rule import Verdict
from tests.conftest import commit, git
from tests.interruptible import run_driver
from tests.site.conftest import registered
from tests.tables import verdicts_of

SUITE = """
import random

from package import SHARE

def track_share():
    return SHARE

def track_busy():
    return random.gauss(SHARE, 0.1)

def track_idle():
    return random.gauss(100 - SHARE, 0.1)

def track_rate():
    return random.gauss(SHARE, 0.1)

track_share.unit = track_busy.unit = track_idle.unit = "%"
track_rate.unit = "windows/s"
track_share.exact = True
track_share.higher_is_better = track_busy.higher_is_better = True
"""
CASES = ("track_share", "track_busy", "track_idle", "track_rate")


def test_less_is_worse_if_suites_say_so(make_project: Callable[..., Path], tmp_path: Path) -> None:
    """The head halves a share of which more is better."""
    project = make_project(SUITE, {"src/package.py": "SHARE = 80\n"}, measured_paths=["src"])
    git(project, "checkout", "--quiet", "-b", "change")
    commit(project, {"src/package.py": "SHARE = 40\n"}, "Leave the device idle")
    sides = ("--before", "HEAD~1", "--fail-if-slower")
    comment = tmp_path / "gate.md"
    gate = ("--base", "main", "--comment", str(comment))
    slower = ExitStatus.SLOWER
    compared, _ = run_driver("compare", project, tmp_path, *sides, status=slower)
    run_driver("gate", project, tmp_path, *gate, status=slower)
    for table in (compared, comment.read_text()):
        assert verdicts_of(table) == {f"suite.{case}": "worse" for case in CASES}

    git(project, "checkout", "--quiet", "main")
    run_driver("bench", project, tmp_path)
    git(project, "merge", "--quiet", "--ff-only", "change")
    run_driver("bench", project, tmp_path)
    index = json.loads((project / "html/index.json").read_text())
    assert [change["verdict"] for change in index["exact_changes"]] == ["worse"]
    for case in CASES:
        _, shown = registered(project / f"html/data/c/suite.{case}.js")
        pairs = shown["comparisons"].get(f"suite.{case}", [])
        assert [pair["verdict"] for pair in pairs] == ["worse"] * (case != "track_share")

    # What is stored without a direction has that of the suites, or else of the unit.
    [stored] = (project / "results/m").glob("????-??.jsonl")
    stored.write_text(stored.read_text().replace(',"higher_is_better":true', ""))
    assert _stored_verdicts(project) == dict.fromkeys(CASES, Verdict.WORSE)
    for path in (project / "results").rglob("benchmarks.json"):
        path.unlink()
    assert _stored_verdicts(project) == {
        "track_share": Verdict.BETTER,
        "track_busy": Verdict.BETTER,
        "track_idle": Verdict.WORSE,
        "track_rate": Verdict.WORSE,
    }


def _stored_verdicts(project: Path) -> dict[str, Verdict]:
    comparisons, _ = read_record(project / "results")
    ratios = [each.ratio(0, 1) for each in comparisons if len(each.sitting.versions) > 1]
    return {ratio.case.removeprefix("suite."): ratio.verdict for ratio in ratios if ratio}
