"""A project that times nothing has its tracked values and peak memory compared."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from asv_watch.compare.values import ComparedValue
from asv_watch.records.comparisons import CaseValues, read_comparisons
from asv_watch.statistics.rule import Verdict
from tests.asv_watch import torchless
from tests.asv_watch.interruptible import start_driver
from tests.conftest import commit

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
    return bytearray(40_000_000 * words("short"))

def track_broken():
    return 1 / 0

def track_ended():
    raise SystemExit

def track_killed():
    os.kill(os.getpid(), signal.SIGKILL)

def track_whole():
    return 7
"""
PACKAGE = 'def words(text):\n    return {short} if text == "short" else 7\n'


def test_a_project_that_times_nothing_is_compared_by_its_values(
    make_project: Callable[..., Path], tmp_path: Path
) -> None:
    settings = torchless.CONFIGURATION | {"package_dir": "src", "measured_paths": []}
    files = {"asv.conf.json": json.dumps(settings), "src/package.py": PACKAGE.format(short=1)}
    root = make_project(SUITE, files)
    commit(root, {"src/package.py": PACKAGE.format(short=2)}, "Say more")
    process = start_driver("compare", root, tmp_path, "--before", "HEAD~1", "--fail-if-slower")
    printed, wrong = process.communicate()
    assert process.returncode == 3, printed + wrong
    verdicts = dict(re.findall(r"^\| `suite\.(\S+)`.*\| (.*?)\s*\|$", printed, re.M))
    assert "ZeroDivisionError" in verdicts.pop("track_broken")
    assert "ended before it gave a value" in verdicts.pop("track_ended")
    assert "ended by SIGKILL, perhaps because memory ran out" in verdicts.pop("track_killed")
    assert verdicts == {
        "Suite.track_words('short')": "more",
        "Suite.track_words('long')": "same",
        "Suite.track_noise('short')": "same",
        "Suite.track_noise('long')": "same",
        "peakmem_words": "more",
        "track_whole": "same",
    }
    [stored], problems = read_comparisons(root / "results")
    assert not problems
    values = {value.case.removeprefix("suite.Suite."): value for value in stored.values}
    words = values["track_words('short')"]
    assert (words.before, words.after, words.exact) == (1, 2, True)
    assert not values["track_noise('long')"].exact


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        ((5.0, 5.0), (5.0, 5.0), Verdict.SAME),
        ((5.0, 5.0), (5.001, 5.001), Verdict.WORSE),
        ((0.0,), (0.0,), Verdict.SAME),
        ((0.0,), (-1.0,), Verdict.BETTER),
        ((100.0, 101.0, 102.0), (101.5, 108.0, 109.0), Verdict.SAME),
        ((100.0, 101.0, 102.0), (102.1, 102.2, 102.3), Verdict.SAME),
        ((100.0, 101.0, 102.0), (107.0, 108.0, 109.0), Verdict.WORSE),
        ((), (1.0,), Verdict.SAME),
    ],
)
def test_values_differ_if_exact_ones_are_unequal_or_ranges_are_apart(
    before: tuple[float, ...], after: tuple[float, ...], verdict: Verdict
) -> None:
    assert (
        ComparedValue("c", "bytes", before, after, CaseValues("c", 1, "bytes")).verdict is verdict
    )
