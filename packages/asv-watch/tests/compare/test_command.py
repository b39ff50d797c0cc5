"""`make compare` and `make calibrate` to the end: real git, asv and processes that take turns."""

import functools
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from asv_watch.judge import graph
from asv_watch.text import quantities
from tests.clockwork import timed
from tests.conftest import commit, git
from tests.interruptible import run_driver
from tests.stored import stored_comparisons
from tests.tables import ratio_of, rows_of

_compare = functools.partial(run_driver, "compare")

SUITE = """
import time

class Suite:
    params = (["plain", "slow", "noisy", "absent", "broken", "other"], ["cpu", "cuda"])
    param_names = ("model", "device")
    timer = time.process_time
    sample_time = 0.005
    warmup_time = 0
    timeout = 20

    def setup(self, model, device):
        print("a suite may print what it likes")
        if model == "absent":
            raise NotImplementedError("nobody has it")
        from package import work  # of the side's commit; asv lists cases without it
        self.work = work

    def time_it(self, model, device):
        if model == "broken":
            raise RuntimeError("out of cheese")
        self.work(model)

    def peakmem_it(self, model, device):
        raise AssertionError("a comparison times and does nothing else")
"""
PACKAGE = """
import time

def work(model):
    until = time.process_time() + ({slow} if model == "slow" else 0.001)
    while time.process_time() < until:
        pass
"""


@pytest.fixture
def project(make_project: Callable[..., Path]) -> Path:
    files = {"src/package.py": PACKAGE.format(slow=0.001)}
    root = make_project(SUITE, files, gpu_cases="'cuda")
    commit(root, {"src/package.py": PACKAGE.format(slow=0.0013)}, "Do more in one model")
    return root


def _row(output: str, model: str) -> list[str]:
    return rows_of(output)[f"suite.Suite.time_it('{model}', 'cpu')"]


def test_it_says_which_cases_got_slower_or_could_not_run(project: Path, tmp_path: Path) -> None:
    # Three: a case failed.
    output, wrong = _compare(project, tmp_path, "--cases", "plain|slow|absent|broken", status=3)
    assert wrong == ""
    parent, head = git(project, "rev-parse", "HEAD~1", "HEAD").split()
    assert output.startswith(f"before: HEAD~1 ({parent[:8]}), virtualenv-py3")
    assert f"after:  HEAD ({head[:8]})" in output
    slow, plain = _row(output, "slow"), _row(output, "plain")
    assert slow[-1] == "slower"
    assert 1.15 < ratio_of(slow[2]) < 1.45  # 1.3 times the work
    assert plain[-1] == "same"
    assert 0.9 < ratio_of(plain[2]) < 1.1
    assert int(plain[4]) >= 5
    assert "Skipped: suite.Suite.time_it('absent', 'cpu'): nobody has it" in output
    failed = r"Failed: .*'broken', 'cpu'\): HEAD\S* .*: RuntimeError: out of cheese"
    assert re.search(failed, output)
    assert "Of 2 cases 1 slower, 0 faster, 1 same" in output
    assert "cuda" not in output
    comparisons = stored_comparisons(project)
    [sitting] = {each.sitting.key: each.sitting for each in comparisons}.values()
    assert (sitting.kind, sitting.machine) == ("compare", "m")
    assert [version.commit for version in sitting.versions] == [parent, head]
    ratios = {each.case: ratio for each in comparisons if (ratio := each.ratio(0, 1))}
    assert len(ratios) == 2
    assert quantities.change(ratios["suite.Suite.time_it('slow', 'cpu')"].ratio) == slow[2]
    assert sum(bool(each.failed) for each in comparisons) == 1
    assert sum(bool(each.skipped) for each in comparisons) == 1
    [record] = [path for path in (project / "results").rglob("*") if path.is_file()]
    assert output.splitlines()[-1] == f"stored in {record.relative_to(project)}"


def test_the_working_tree_is_a_side(project: Path, tmp_path: Path) -> None:
    checkout = {path.name for path in project.iterdir()}
    (project / "src/package.py").write_text(PACKAGE.format(slow=0.0007))
    side = ("--before", ".", "--after", "HEAD", "--cases", "slow")
    output, _ = _compare(project, tmp_path, *side, "--fail-if-slower", status=4)
    last = output.splitlines()[-1]
    assert last == "not stored: the working tree has changes that are not committed"
    assert not list((project / "results").glob("*/*.jsonl"))
    assert output.startswith("before: the working tree")
    assert 1.5 < ratio_of(_row(output, "slow")[2]) < 2.3
    (project / "src/package.py").write_text(PACKAGE.format(slow=0.0008))
    git(project, "branch", "ann@topic/1")
    sides = ("--before", "ann@topic/1", "--after", ".")
    output, _ = _compare(project, tmp_path, *sides, *side[4:])
    assert _row(output, "slow")[-1] == "faster"
    assert {path.name for path in project.iterdir()} - checkout <= {".asv", "results"}
    assert len(list(project.rglob("tree-*"))) == 1, "the copy of an earlier edit is removed"


def test_cases_of_one_version_are_sides(project: Path, tmp_path: Path) -> None:
    """Groups of the patterns say which belong together; a side that cannot run is left out."""
    models = "plain", "slow", "absent"
    plain, slow, absent = (f"(time_it).*'{model}', '(.*)'" for model in models)
    wrong = ("--cases", plain, "--against", "time_it.*cpu")
    _, message = _compare(project, tmp_path, *wrong, status=1)
    assert "put what tells its cases apart in a group" in message
    arguments = ("--cases", plain, "--against", slow, "--against", absent, "--budget", "5min")
    output, _ = _compare(project, tmp_path, *arguments, "--json", str(tmp_path / "answer.json"))
    names = [f"suite.Suite.time_it('{model}', 'cpu')" for model in models]
    assert output.startswith("with HEAD (")
    assert f"**{names[1]}** against **{names[0]}**" in output
    assert _row(output, "plain")[-1] == "slower"
    assert 1.15 < ratio_of(_row(output, "plain")[2]) < 1.45
    [first, *_] = json.loads((tmp_path / "answer.json").read_text())["differences"]
    assert [first["case"], first["against"], first["verdict"]] == [*names[:2], "slower"]
    [stored] = stored_comparisons(project)
    assert (stored.sitting.kind, stored.cases) == ("cases", tuple(names))
    assert stored.skipped == {2: "nobody has it"}
    assert not graph.MachineGraphs([stored]).commits, "it says nothing about two versions"


@pytest.mark.parametrize(
    ("arguments", "output"),
    [
        (("--against", "slow"), "--against takes --cases and one version"),
        (("--cases", "(plain)", "--against", "(slow)"), "no case of (plain) belongs to one of"),
        (("--before", "nowhere"), "'nowhere' is not a commit, tag, branch or version"),
        (("--before", "HEAD@1.0"), "asv.conf.json pins no release 1.0"),
        (("--cases", "absent"), "no case ran on both sides (nobody has it)"),
    ],
)
def test_bad_input_is_one_line(
    project: Path, tmp_path: Path, arguments: tuple[str, ...], output: str
) -> None:
    _, wrong = _compare(project, tmp_path, *arguments, status=1)
    assert output in wrong.splitlines()[-1]
    assert "Traceback" not in wrong


def test_suites_that_import_the_checkout_whatever_the_commit_are_refused(
    project: Path, tmp_path: Path
) -> None:
    source = "str(Path(__file__).parents[1] / 'src')"
    first = f"import sys\nfrom pathlib import Path\nsys.path.insert(0, {source})\n{SUITE}"
    suite = project / "benchmarks" / "suite.py"
    suite.write_text(first)
    output, wrong = _compare(project, tmp_path, "--cases", "slow.*cpu", status=1)
    assert f"the suites import package from {project}/src/package.py, not from" in wrong
    assert "in suite suite, write sys.path.append(folder)" in wrong
    suite.write_text(first.replace("insert(0, ", "append("))
    output, _ = _compare(project, tmp_path, "--cases", "slow.*cpu")
    assert _row(output, "slow")[-1] == "slower"


OTHERS = """
def time_broken():
    raise RuntimeError("out of cheese")

def peakmem_it():
    raise AssertionError("a calibration times and does nothing else")
"""


def test_a_calibration_compares_head_with_itself(
    make_project: Callable[..., Path], tmp_path: Path
) -> None:
    project = make_project(timed("0.001") + OTHERS, {"src/package.py": ""})
    arguments = ("--cases", "_it|broken", "--comparisons", "2", "--sides", "3")
    output, _ = run_driver("calibrate", project, tmp_path, *arguments, status=3)
    comparisons = stored_comparisons(project)
    assert {each.sitting.kind for each in comparisons} == {"null"}
    assert len({each.sitting.key for each in comparisons}) == 2, "a sitting each"
    head = git(project, "rev-parse", "HEAD")
    assert {each.sitting.versions[-1].commit for each in comparisons} == {head}
    measured = [each for each in comparisons if not each.failed]
    assert [each.case for each in measured] == ["suite.Suite.time_it"] * 2
    assert [each.measured_sides for each in measured] == [[0, 1, 2]] * 2
    ratios = graph.ratios_to_first(measured, graph.MachineGraphs(comparisons))
    assert [ratio.ratio for ratio in ratios] == pytest.approx([1] * 4, abs=0.01)
    assert "out of cheese" in output
    noise, place, smallest, failed = output.splitlines()[-4:]
    assert failed == "Failed: suite.time_broken."
    assert noise.startswith(f"4 ratios of {head[:8]} to itself differ from 1 by ")
    assert " of 3 differs most from the mean of the others: " in place
    assert smallest.startswith("Smallest detectable change of a comparison on m: median ")
    files = {path for path in (project / "results").rglob("*") if path.is_file()}
    assert len(files) == 1, "the record, and nothing else"


def test_a_planted_slowdown_is_measured_and_is_no_noise(project: Path, tmp_path: Path) -> None:
    arguments = ("--cases", "plain.*cpu", "--comparisons", "1", "--planted", "50")
    output, _ = run_driver("calibrate", project, tmp_path, *arguments)
    [stored] = stored_comparisons(project)
    ratio = stored.ratio(0, 1)
    assert ratio is not None
    assert 1.4 < ratio.ratio < 1.6
    assert graph.newest_repeats([stored]) == []
    assert "slowed down by 50 %** against **" in output
    assert "Of 1 case 1 slower, 0 faster, 0 same" in output
