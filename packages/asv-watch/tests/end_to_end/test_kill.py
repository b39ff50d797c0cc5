"""Commands that are struck at random moments keep their rounds, and go on with them."""

import random
import re
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from asv_watch.cli.main import KEPT
from asv_watch.records.store import read_record
from tests.clockwork import CLOCK
from tests.conftest import commit, git
from tests.interruptible import run_driver, start_driver
from tests.leftovers import wait_until_none_is_left

STRIKES = 4
CASES = 8
"""So many that the strikes come before all of them are measured."""
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
SUITE = f"""{CLOCK}
import package

class Suite:
    params = ["first", "second"]
    timer = Clock.read
    sample_time = 0.01
    warmup_time = 0

    def time_it(self, case):
        Clock.now += random.gauss(package.SECONDS, 0.002 * package.SECONDS)
"""


def _count_lines(folder: Path) -> int:
    return sum(len(path.read_text().splitlines()) for path in folder.glob("*"))


def _strike(project: Path, home: Path, strikes: int, *sides: str) -> Path:
    """End a comparison so many times; return the folder of the rounds that it kept."""
    moments = random.Random(53)  # noqa: S311 - a test repeats itself
    rounds, kept = project / ".asv" / "unfinished", 0
    for strike in range(strikes):
        process = start_driver("compare", project, home, *sides)
        deadline = time.monotonic() + 200
        while _count_lines(rounds) <= kept and process.poll() is None:
            assert time.monotonic() < deadline, "it keeps no round"
            time.sleep(0.1)
        time.sleep(moments.uniform(0, 0.5))
        number = SIGNALS[strike % len(SIGNALS)]
        process.send_signal(number)
        _, errors = process.communicate()
        assert process.returncode != 0, "it was finished before the strike"
        if number is signal.SIGINT:
            assert process.returncode == 130
            assert errors == f"asv-watch: interrupted; {KEPT}\n"
        wait_until_none_is_left(project)
        assert _count_lines(rounds) >= kept, "a round was lost"
        kept = _count_lines(rounds)
    return rounds


@pytest.mark.timeout(900)
def test_a_comparison_with_the_working_tree_goes_on_while_nothing_in_it_changes(
    make_project: Callable[..., Path], tmp_path: Path
) -> None:
    suite = SUITE.replace('["first", "second"]', f"list(range({CASES}))")
    project = make_project(suite, {"src/package.py": "SECONDS = 0.002\n"})
    package = project / "src" / "package.py"
    package.write_text("SECONDS = 0.003\n")
    rounds = _strike(project, tmp_path, 2, "HEAD", ".")
    [kept] = rounds.glob("*")
    package.write_text("SECONDS = 0.004\n")
    edited = start_driver("compare", project, tmp_path, "HEAD", ".")
    deadline = time.monotonic() + 60
    while len(list(rounds.glob("*"))) < 2 and time.monotonic() < deadline:
        time.sleep(0.1)
    edited.kill()
    edited.communicate()
    assert len(list(rounds.glob("*"))) == 2, "it went on with rounds of other code"
    package.write_text("SECONDS = 0.003\n")
    output, _ = run_driver("compare", project, tmp_path, "HEAD", ".")
    assert not kept.exists(), "a finished comparison keeps no rounds aside"
    assert f"{CASES} slower" in output
    first_round = re.search(r"^round (\d+) ", output, re.MULTILINE)
    assert first_round is not None
    assert int(first_round[1]) > 1, "it measured rounds again"


@pytest.mark.timeout(900)
def test_a_comparison_goes_on_with_the_rounds_that_it_had(
    make_project: Callable[..., Path], tmp_path: Path
) -> None:
    suite = SUITE.replace('["first", "second"]', f"list(range({CASES}))")
    project = make_project(suite, {"src/package.py": "SECONDS = 0.002\n"})
    commit(project, {"src/package.py": "SECONDS = 0.003\n"}, "Be slower")
    rounds = _strike(project, tmp_path, STRIKES)
    output, _ = run_driver("compare", project, tmp_path)
    assert not list(rounds.glob("*")), "a finished comparison keeps no rounds aside"
    comparisons, problems = read_record(project / "results")
    assert problems == []
    assert f"{CASES} slower" in output
    assert len(comparisons) == CASES
    assert len({comparison.sitting.key for comparison in comparisons}) == 1, "one sitting"
    new_rounds = output.count("round ")
    assert new_rounds < sum(len(comparison.rounds) for comparison in comparisons)


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("command", ["bisect", "nightly"])
def test_a_bisection_and_a_night_lose_no_finished_case(
    make_project: Callable[..., Path], tmp_path: Path, command: str
) -> None:
    project = make_project(SUITE, {"src/package.py": "SECONDS = 0.002\n"})
    first = git(project, "rev-parse", "HEAD")
    for number, seconds in enumerate((0.002, 0.003, 0.003)):
        text = f"# {number}\nSECONDS = {seconds}\n"
        commit(project, {"src/package.py": text}, f"Commit {number}")
    options = ("--before", first, "--cases", "second") if command == "bisect" else ()
    moments = random.Random(7)  # noqa: S311 - a test repeats itself
    finished: set[tuple[str, str]] = set()
    for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT):
        process = start_driver(command, project, tmp_path, *options)
        time.sleep(moments.uniform(2, 8))
        process.send_signal(number)
        process.communicate()
        wait_until_none_is_left(project)
        comparisons, problems = read_record(project / "results")
        assert problems == []
        stored = {(str(each.sitting.key), each.case) for each in comparisons}
        assert finished <= stored, "a finished case was lost"
        finished = stored
    output, _ = run_driver(command, project, tmp_path, *options)
    assert "+50" in output or "+49" in output or "+51" in output
