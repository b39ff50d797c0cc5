"""A project that times nothing has its tracked values and peak memory compared, and gated."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from asv_watch.errors import ExitStatus
from asv_watch.statistics.rule import Verdict
from tests.conftest import commit, git
from tests.interruptible import run_driver
from tests.stored import stored_comparisons
from tests.tables import verdicts_of

SUITE = """
import os
import random
import signal

class Suite:
    params = ["short", "long"]
    param_names = ["text"]

    def track_words(self, text):
        from package import words
        return words(text)

    def track_noise(self, text):
        return 100 + random.random()

def peakmem_words():
    from package import words
    return bytearray(4_000_000 * words("short"))

def track_warnings():
    from package import WARNINGS
    return WARNINGS

def track_removed():
    from package import REMOVED
    return REMOVED

def track_killed():
    os.kill(os.getpid(), signal.SIGKILL)

def track_balance():
    return random.random() - 10

def track_sum():
    return 0.7 + random.random() * 1e-14  # threads add up in another order
"""
PACKAGE = """
WARNINGS = {warnings}

def words(text):
    return {short} if text == "short" else 7
"""
BEFORE = PACKAGE.format(short=10, warnings=0) + "\nREMOVED = 1\n"
AFTER = PACKAGE.format(short=12, warnings=2)


@pytest.fixture
def root(make_project: Callable[..., Path]) -> Path:
    root = make_project(SUITE, {"src/package.py": BEFORE}, measured_paths=["src"])
    git(root, "checkout", "--quiet", "-b", "change")
    commit(root, {"src/package.py": AFTER}, "Say more")
    return root


def test_values_are_compared_where_nothing_is_timed(root: Path, tmp_path: Path) -> None:
    arguments = ("--before", "HEAD~1", "--fail-if-slower")
    printed, _ = run_driver("compare", root, tmp_path, *arguments, status=3)
    assert re.search(r"^Failed: suite\.track_removed: HEAD\S* .*: ImportError", printed, re.M)
    assert "ended by SIGKILL, perhaps because memory ran out" in printed
    assert verdicts_of(printed) == {
        "suite.Suite.track_words('short')": "worse",
        "suite.Suite.track_words('long')": "same",
        "suite.Suite.track_noise('short')": "same",
        "suite.Suite.track_noise('long')": "same",
        "suite.peakmem_words": "worse",
        "suite.track_warnings": "worse",
        "suite.track_sum": "same",
    }
    found = [each.ratio(0, 1) for each in stored_comparisons(root)]
    ratios = {ratio.case.removeprefix("suite."): ratio for ratio in found if ratio is not None}
    words = ratios["Suite.track_words('short')"]
    assert (words.before, words.after, words.exact) == (10, 12, True)
    assert ratios["track_sum"].exact, "a difference by rounding is none"
    peak = ratios["peakmem_words"]
    assert (peak.unit, peak.metric, peak.verdict) == ("bytes", "memory", Verdict.WORSE)
    assert peak.rounds >= 5, "a difference rests on five rounds"
    assert ratios["Suite.track_noise('long')"].verdict is Verdict.SAME
    assert {ratio.metric for ratio in ratios.values()} == {"memory"}


def test_values_are_gated_where_nothing_is_timed(root: Path, tmp_path: Path) -> None:
    file = tmp_path / "gate.md"
    options: tuple[str, ...] = "--comment", str(file), "--json", str(tmp_path / "gate.json")
    # The base is that of asv.conf.json.
    printed, _ = run_driver("gate", root, tmp_path, *options, status=ExitStatus.SLOWER)
    assert "3 of 4 cases worse, worst changed" in printed
    assert "**The gate fails: 3 worse by 3.0 % or more, 1 failed.**" in printed
    cases = json.loads((tmp_path / "gate.json").read_text())["differences"]
    assert {case["case"] for case in cases if case["verdict"] == "worse"} == {
        "suite.Suite.track_words('short')",
        "suite.peakmem_words",
        "suite.track_warnings",
    }
    comment = file.read_text()
    assert "| `suite.Suite.track_words('short')` | 10.0 | 12.0 | +20.0 % | worse |" in comment
    assert "| `suite.track_warnings` | 0 | 2.00 | changed | worse |" in comment
    assert re.search(r"`suite.peakmem_words` \| \S+ MiB \| \S+ MiB \| \+\S+ % \(\+", comment)

    options += "--cases", "killed|removed|balance|sum"
    printed, _ = run_driver("gate", root, tmp_path, *options, status=ExitStatus.SOME_CASES_FAILED)
    assert "0 of 1 cases worse; 1 failed" in printed
    # What fails on the base cannot be compared, and what fails on the head alone has failed.
    verdicts = verdicts_of(file.read_text())
    for case, state, reason in (
        ("killed", "skipped: `", "ended by SIGKILL"),
        ("removed", "failed: `", "ImportError: cannot import name 'REMOVED'"),
        ("balance", "skipped: `", "values of zero or below, or too far apart, have no ratio"),
    ):
        assert verdicts[f"suite.track_{case}"].startswith(state)
        assert reason in verdicts[f"suite.track_{case}"]
