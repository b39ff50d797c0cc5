"""A project that times nothing has its tracked values and peak memory compared."""

import re
from collections.abc import Callable
from pathlib import Path

from asv_watch.records.store import read_record
from asv_watch.statistics.rule import Verdict
from tests.conftest import commit
from tests.interruptible import run_driver
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

class Cached:
    def setup_cache(self):
        return 100 + random.random()

    def track_cached(self, cached):
        return cached

def peakmem_words():
    from package import words
    return bytearray(40_000_000 * words("short"))

def mem_words():
    from package import words
    return [None] * 1000 * words("short")

def track_broken():
    return 1 / 0

def track_ended():
    raise SystemExit

def track_killed():
    os.kill(os.getpid(), signal.SIGKILL)

def track_whole():
    return 7

def track_sum():
    return 0.7 + random.random() * 1e-14  # threads add up in another order
"""
ASIZEOF = """
import sys

def asizeof(objects):
    return sum(map(sys.getsizeof, {id(one): one for one in objects}.values()))
"""
"""What asv_runner asks for to measure ``mem_*``."""
PACKAGE = 'def words(text):\n    return {short} if text == "short" else 7\n'


def test_a_project_that_times_nothing_is_compared_by_its_values(
    make_project: Callable[..., Path], tmp_path: Path
) -> None:
    files = {"src/package.py": PACKAGE.format(short=1), "src/pympler/asizeof.py": ASIZEOF}
    root = make_project(SUITE, files, measured_paths=[])
    commit(root, {"src/package.py": PACKAGE.format(short=2)}, "Say more")
    arguments = ("--before", "HEAD~1", "--fail-if-slower")
    printed, _ = run_driver("compare", root, tmp_path, *arguments, status=3)
    reasons = dict(re.findall(r"^Failed: suite\.(\w+): HEAD\S* .*?: (.*)", printed, re.M))
    assert reasons["track_broken"].startswith("ZeroDivisionError")
    assert reasons["track_ended"].startswith("the process ended before it gave a value")
    assert "ended by SIGKILL, perhaps because memory ran out" in printed
    verdicts = verdicts_of(printed)
    assert {name.removeprefix("suite."): word for name, word in verdicts.items()} == {
        "Suite.track_words('short')": "worse",
        "Suite.track_words('long')": "same",
        "Suite.track_noise('short')": "same",
        "Suite.track_noise('long')": "same",
        "Cached.track_cached": "same",
        "peakmem_words": "worse",
        "mem_words": "worse",
        "track_whole": "same",
        "track_sum": "same",
    }
    comparisons, problems = read_record(root / "results")
    assert not problems
    found = ((each.case.removeprefix("suite."), each.ratio(0, 1)) for each in comparisons)
    ratios = {name: ratio for name, ratio in found if ratio is not None}
    words = ratios["Suite.track_words('short')"]
    assert (words.before, words.after, words.exact) == (1, 2, True)
    assert ratios["track_sum"].exact, "a difference by rounding is none"
    peak = ratios["peakmem_words"]
    assert (peak.unit, peak.metric, peak.verdict) == ("bytes", "memory", Verdict.WORSE)
    assert peak.rounds >= 5, "a difference rests on five rounds"
    assert ratios["Suite.track_noise('long')"].verdict is Verdict.SAME
    assert not ratios["Cached.track_cached"].exact, "`setup_cache` runs in each round"
    assert {ratio.metric for ratio in ratios.values()} == {"memory"}
