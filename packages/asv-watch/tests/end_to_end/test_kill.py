"""Commands that are struck at random moments keep their rounds, and go on with them."""

import random
import re
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from asv_watch.cli.main import KEPT
from tests.clockwork import timed
from tests.conftest import commit, git
from tests.interruptible import run_driver, start_driver
from tests.leftovers import wait_until, wait_until_none_is_left
from tests.stored import stored_comparisons

CASES = 8  # so many that the strikes come before all of them are measured
PACKAGE = "src/package.py"
FAST, SLOW, SLOWER = (f"SECONDS = 0.00{milliseconds}\n" for milliseconds in (2, 3, 4))


def _count_lines(folder: Path) -> int:
    return sum(len(path.read_text().splitlines()) for path in folder.glob("*"))


@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("after", "signals"),
    [("HEAD", [signal.SIGKILL, signal.SIGTERM]), (".", [signal.SIGINT, signal.SIGHUP])],
    ids=["commits", "working tree"],
)
def test_a_comparison_goes_on_with_its_rounds_while_nothing_changes(
    make_project: Callable[..., Path], tmp_path: Path, after: str, signals: list[signal.Signals]
) -> None:
    suite = "import package\n" + timed("package.SECONDS", CASES)
    project = make_project(suite, {PACKAGE: FAST})
    package, rounds = project / PACKAGE, project / ".asv" / "unfinished"
    commit(project, {PACKAGE: SLOW}, "Be slower")
    if after == ".":
        package.write_text(f"# Edited.\n{SLOW}")
    moments = random.Random(53)  # noqa: S311 - a test repeats itself
    kept = 0
    for number in signals:
        process = start_driver("compare", project, tmp_path, "HEAD~1", after)
        deadline = time.monotonic() + 200
        while _count_lines(rounds) <= kept and process.poll() is None:
            assert time.monotonic() < deadline, "it keeps no round"
            time.sleep(0.1)
        time.sleep(moments.uniform(0, 0.5))
        process.send_signal(number)
        _, errors = process.communicate()
        assert process.returncode != 0, "it was finished before the strike"
        if number is not signal.SIGKILL:
            how = "interrupted" if number is signal.SIGINT else f"ended by {number.name}"
            assert process.returncode == 128 + number
            assert errors == f"asv-watch: {how}; {KEPT}\n"
        wait_until_none_is_left(project)
        assert _count_lines(rounds) >= kept, "a round was lost"
        kept = _count_lines(rounds)
    [file] = rounds.glob("*")
    if after == ".":
        text = package.read_text()
        package.write_text(SLOWER)
        edited = start_driver("compare", project, tmp_path, "HEAD~1", after)
        has_begun_anew = wait_until(lambda: len(list(rounds.glob("*"))) == 2)
        edited.kill()
        edited.communicate()
        assert has_begun_anew, "it went on with rounds of other code"
        package.write_text(text)
    output, _ = run_driver("compare", project, tmp_path, "HEAD~1", after)
    assert f"{CASES} slower" in output
    first_round = re.search(r"^round (\d+) ", output, re.MULTILINE)
    assert first_round is not None
    assert int(first_round[1]) > 1, "it measured rounds again"
    assert not file.exists(), "a finished comparison keeps no rounds aside"
    comparisons = stored_comparisons(project)
    sittings = {comparison.sitting.key for comparison in comparisons}
    assert (len(comparisons), len(sittings)) == ((0, 0) if after == "." else (CASES, 1))


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("command", ["bisect", "nightly"])
def test_a_bisection_and_a_night_lose_no_finished_case(
    make_project: Callable[..., Path], tmp_path: Path, command: str
) -> None:
    suite = "import package\n" + timed("package.SECONDS", cases=2)
    project = make_project(suite, {PACKAGE: FAST})
    first = git(project, "rev-parse", "HEAD")
    for number, text in enumerate((FAST, SLOW, SLOW)):
        commit(project, {PACKAGE: f"# {number}\n{text}"}, f"Commit {number}")
    options = ("--before", first, "--cases", "1") if command == "bisect" else ()
    moments = random.Random(7)  # noqa: S311 - a test repeats itself
    finished: set[tuple[str, str]] = set()
    for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT):
        process = start_driver(command, project, tmp_path, *options)
        time.sleep(moments.uniform(2, 8))
        process.send_signal(number)
        process.communicate()
        wait_until_none_is_left(project)
        stored = {(str(each.sitting.key), each.case) for each in stored_comparisons(project)}
        assert finished <= stored, "a finished case was lost"
        finished = stored
    run_driver(command, project, tmp_path, *options)
    comparisons = stored_comparisons(project)
    ratios = [each.ratio(0, len(each.sitting.versions) - 1) for each in comparisons]
    assert 1.5 in [round(ratio.ratio, 1) for ratio in ratios if ratio]
