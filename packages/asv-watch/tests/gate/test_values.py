"""The gate of a project that times nothing, and what it says of a project that also times."""

import json
import re
from collections.abc import Callable
from pathlib import Path

from asv_watch.errors import ExitStatus
from tests.clockwork import CLOCK
from tests.conftest import commit, git
from tests.interruptible import run_driver

SUITE = """
import random

def track_words():
    from package import WORDS
    return WORDS

def track_warnings():
    from package import WARNINGS
    return WARNINGS

def track_depth():
    return 7

def track_balance():
    return random.random() - 10

def peakmem_words():
    from package import WORDS
    return bytearray(4_000_000 * WORDS)
"""
TIMED = f"""{CLOCK}
class Suite:
    timer = Clock.read
    sample_time, warmup_time = 0.005, 0

    def time_work(self):
        Clock.now += random.gauss(0.001, 0.000002)
"""
PACKAGE = "WORDS = {words}\nWARNINGS = {warnings}\n"


def make_pull_request(make_project: Callable[..., Path], suite: str, **head: int) -> Path:
    files = {"src/package.py": PACKAGE.format(words=10, warnings=0)}
    root = make_project(suite, files, measured_paths=["src"])
    git(root, "checkout", "--quiet", "-b", "change")
    commit(root, {"src/package.py": PACKAGE.format(**head)}, "Say more")
    return root


def test_memory_and_tracked_values_are_gated_where_nothing_is_timed(
    make_project: Callable[..., Path], tmp_path: Path
) -> None:
    root = make_pull_request(make_project, SUITE, words=12, warnings=2)
    files = ("--comment", str(tmp_path / "gate.md"), "--json", str(tmp_path / "gate.json"))
    # The base is that of asv.conf.json.
    printed, _ = run_driver("gate", root, tmp_path, *files, status=ExitStatus.SLOWER)
    assert "3 of 4 cases worse, worst changed" in printed
    assert "**The gate fails: 3 worse by 3.0 % or more.**" in printed
    answer = json.loads((tmp_path / "gate.json").read_text())
    assert {case["case"]: case["verdict"] for case in answer["differences"]} == {
        "suite.track_words": "worse",
        "suite.track_warnings": "worse",
        "suite.track_depth": "same",
        "suite.track_balance": "not measured",
        "suite.peakmem_words": "worse",
    }
    comment = (tmp_path / "gate.md").read_text()
    assert "| `suite.track_words` | 10.0 | 12.0 | +20.0 % | worse |" in comment
    assert "| `suite.track_warnings` | 0 | 2.00 | changed | worse |" in comment
    assert re.search(r"`suite.peakmem_words` \| \S+ MiB \| \S+ MiB \| \+\S+ % \(\+", comment)
    assert "skipped: `a value is zero or below, so there is no ratio`" in comment


def test_where_some_cases_are_timed_one_line_says_what_is_left_out(
    make_project: Callable[..., Path], tmp_path: Path
) -> None:
    root = make_pull_request(make_project, TIMED + SUITE, words=10, warnings=1)
    printed, _ = run_driver("gate", root, tmp_path, "--base", "main")
    assert "5 cases that time nothing are left out; `asv-watch compare --values`" in printed
    printed, _ = run_driver(
        "gate", root, tmp_path, "--base", "main", "--cases", "track_w", status=ExitStatus.SLOWER
    )
    assert "1 of 2 cases worse" in printed
