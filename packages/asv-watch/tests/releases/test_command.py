"""`asv-watch releases` to the end: real pip and environments, wheels made for the test."""

import functools
import json
import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from asv_watch.asv.settings import read_configuration
from asv_watch.comparison import Comparison, Ratio, Sitting
from asv_watch.records.store import read_record
from tests.clockwork import CLOCK
from tests.conftest import git
from tests.interruptible import run_driver
from tests.planted_comparisons import compared_releases, store
from tests.torchless import CONFIGURATION, give_environment
from tests.wheels import write_wheel

_releases = functools.partial(run_driver, "releases")

ENGINE = """
__version__ = "{version}"
WORK = {work}
BUILD = "cpu"
"""
ADDON = """
__version__ = "{version}"
BUILD = "{build}"
"""
FACTS = """
import json

import addon
import engine

if addon.BUILD != engine.BUILD:
    raise ImportError(f"engine was built for {engine.BUILD} and addon for {addon.BUILD}")
print(json.dumps({"facts": {"kernels": engine.__version__ + " kernels"}}))
"""
SUITE = f"""{CLOCK}
import json
from pathlib import Path


def peakmem_it():
    pass


def track_it():
    import engine
    return engine.WORK


def track_missing_it():
    raise NotImplementedError("no such operator")


track_it.exact = track_missing_it.exact = True
track_it.unit = "steps"


class Compiled:
    params = (["cnn", "lstm"],)
    param_names = ("model",)

    def setup_cache(self):
        return str(Path.cwd())

    def setup(self, folder, model):
        import engine
        if model == "lstm" and engine.WORK > 2000:
            raise RuntimeError("no kernel for " + folder)
        with Path(folder, "compiled").open("a") as record:
            record.write(model)
        self.compiled = Path(folder, "compiled").read_text()

    def track_breaks_it(self, folder, model):
        return self.compiled.count("cnn")

    def track_graphs_it(self, folder, model):
        return self.compiled.count("cnn")

    track_breaks_it.exact = track_graphs_it.exact = True


class Suite:
    params = (["all", "new"],)
    param_names = ("release",)
    timer = Clock.read
    sample_time = 0.005
    warmup_time = 0
    timeout = 20

    def setup(self, release):
        import engine
        if release == "new" and engine.__version__ < "9.1":
            raise NotImplementedError("engine 9.0 has no such operator")
        self.work = engine.WORK

    def time_it(self, release):
        Clock.now += random.gauss(self.work, 0.002 * self.work) / 1e6
"""

LISTED = """    "releases": {
        "engine": [
            {"engine": "9.1.0", "addon": "8.1.0"},
            {"engine": "9.0.0", "addon": "8.0.0"}
        ]
    },
"""


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Publish engine 9.0.0 to 9.2.0, the last with an addon that was built for another device."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    for engine, work, addon, build in (
        ("9.0.0", 2000, "8.0.0", "cpu"),
        ("9.1.0", 2600, "8.1.0", "cpu"),
        ("9.2.0", 2600, "8.2.0", "cu999"),
        ("9.2.0", 2600, "8.2.1", "cpu"),
    ):
        write_wheel(folder, "engine", engine, ENGINE.format(version=engine, work=work))
        code = ADDON.format(version=addon, build=build)
        write_wheel(folder, "addon", addon, code, f"engine=={engine}")
    others = os.environ.get("PIP_FIND_LINKS", "")
    monkeypatch.setenv("PIP_FIND_LINKS", f"{others} {folder}".strip())


@pytest.fixture
def project(make_repository: Callable[..., Path], wheels: None) -> Path:
    text = json.dumps(CONFIGURATION | {"facts_script": "facts.py"}, indent=4)
    return make_repository(
        {
            "asv.conf.json": "{\n" + LISTED + text.removeprefix("{\n"),
            "facts.py": FACTS,
            "benchmarks/__init__.py": "",
            "benchmarks/suite.py": SUITE,
            "src/package.py": "",
            ".gitignore": ".asv/\n",
        }
    )


def _list(project: Path, release: dict[str, str]) -> None:
    """List a release above the others."""
    path = project / "asv.conf.json"
    path.write_text(path.read_text().replace("[\n", f"[\n{json.dumps(release)},\n", 1))
    git(project, "commit", "--quiet", "--all", "--message", "List a release")


def test_releases_are_compared_once_and_the_list_says_so(project: Path, tmp_path: Path) -> None:
    printed, _ = _releases(project, tmp_path, "list")
    assert "| 9.1.0  | 8.1.0 | missing " in printed

    measure = ("measure", "--cases", "_it(?!.*resnet)")
    file = tmp_path / "answer.json"
    to_file = ("--json", str(file))
    _, errors = _releases(project, tmp_path, "list", *to_file, status=2)
    assert "list shows all cases and writes no JSON" in errors
    printed, _ = _releases(project, tmp_path, *measure, *to_file, status=3)
    _check_measured_answer(file)
    failed = "Failed: suite.Compiled.track_breaks_it('lstm'): engine 9.1.0: RuntimeError"
    assert failed in printed
    [(sitting, comparisons)] = _sittings(project)
    assert sitting.kind == "release"
    before, after = sitting.versions
    assert before.requirements == {"engine": "9.0.0", "addon": "8.0.0"}
    assert str(after.release) == "engine 9.1.0"
    assert before.commit == after.commit
    ratios = _ratios(comparisons, 0, 1)
    timed = {case for case, ratio in ratios.items() if ratio.metric == "time"}
    assert timed == {"import engine", "Suite.time_it('all')"}
    assert ratios["Suite.time_it('all')"].ratio == pytest.approx(1.3, abs=0.01)
    skipped = {each.case: each.skipped for each in comparisons}
    assert skipped["suite.Suite.time_it('new')"] == {0: "engine 9.0 has no such operator"}
    assert skipped["suite.track_missing_it"] == {0: "no such operator"}
    assert (ratios["track_it"].before, ratios["track_it"].after) == (2000, 2600)
    assert ratios["peakmem_it"].ratio == pytest.approx(1, abs=0.1)
    breaks, graphs = (ratios[f"Compiled.track_{name}_it('cnn')"] for name in ("breaks", "graphs"))
    assert (breaks.before, breaks.after) == (1, 1)
    assert (graphs.before, graphs.after) == (2, 2), "one process and folder measures both"
    assert not list((project / ".asv" / "releases").iterdir()), "environments are removed"
    environments = read_configuration(project).environments_folder
    assert not list(environments.glob("*/bin")), "none of asv's own is made"

    printed, errors = _releases(project, tmp_path, *measure, "9.1.0")
    assert errors == ""
    assert "nothing is missing: each release is compared already" in printed
    printed, _ = _releases(project, tmp_path, "list")
    assert re.search(
        r"\| 9\.1\.0 .*\| 3 cases, 3 exact values, 2 failed, \d{4}-\d\d-\d\d +\|", printed
    ), printed
    printed, errors = _releases(project, tmp_path, "findings", *to_file)
    assert errors == ""
    answer = json.loads(file.read_text())
    assert (answer["schema"], answer["command"]) == (1, "releases")
    slower = _by_case(answer)["Suite.time_it('all')"]
    assert (slower["verdict"], slower["worse"], slower["machine"]) == ("slower", True, "m")
    assert slower["ratio"] == pytest.approx(1.3, abs=0.01)
    assert slower["reason"] == "engine 9.1.0 against 9.0.0"
    assert printed.startswith("engine 9.1.0 against 9.0.0: ")
    row = r"^\| `suite\.Suite\.time_it\('all'\)` \| one day +\|.*: \+\d+\.\d % \("
    assert re.search(row, printed, re.M)
    for option, value, message in (
        ("--cases", "no_such", "no compared case matches no_such"),
        ("--machine", "elsewhere", "no such releases were compared on elsewhere; give --machine "),
    ):
        printed, _ = _releases(project, tmp_path, "findings", option, value)
        assert printed.startswith(message)


def _sittings(project: Path) -> list[tuple[Sitting, list[Comparison]]]:
    """Return what was stored of each sitting, the oldest first."""
    comparisons, problems = read_record(project / "results")
    assert problems == []
    by_key: dict[object, list[Comparison]] = {}
    for comparison in comparisons:
        by_key.setdefault(comparison.sitting.key, []).append(comparison)
    return [(cases[0].sitting, cases) for cases in by_key.values()]


def _ratios(comparisons: Sequence[Comparison], before: int, after: int) -> dict[str, Ratio]:
    ratios = ((each.case, each.ratio(before, after)) for each in comparisons)
    return {case.removeprefix("suite."): ratio for case, ratio in ratios if ratio is not None}


def _by_case(answer: dict[str, Any]) -> dict[str, Any]:
    return {each["case"].removeprefix("suite."): each for each in answer["differences"]}


def _check_measured_answer(file: Path) -> None:
    found = _by_case(json.loads(file.read_text()))
    slower = found["Suite.time_it('all')"]
    assert (slower["verdict"], slower["sides"]) == ("slower", ["engine 9.0.0", "engine 9.1.0"])
    assert found["track_it"]["verdict"] == "worse"
    assert found["track_missing_it"]["reason"] == "no such operator"


def _releases_of(sitting: Sitting) -> list[str]:
    return [version.release.version for version in sitting.versions]


def test_a_night_compares_a_release_that_was_added_since(
    project: Path, tmp_path: Path, made_environment: Path
) -> None:
    give_environment(project, made_environment)
    known = {f"suite.Suite.time_it('{release}')": 1.3 for release in ("all", "new")}
    compared = compared_releases("9.0.0", "9.1.0", known, machine="m", requirement="engine")
    store(project / "results", compared)
    _list(project, {"engine": "9.2.0", "addon": "8.2.1"})
    # Three: asv's own environment has no engine, so its cases fail.
    printed, _ = run_driver("nightly", project, tmp_path, "--cases", "time_it", status=3)
    assert "release without comparison:\nengine 9.2.0 against 9.1.0\n" in printed
    stored = [each for each in _sittings(project) if each[0].kind == "release"]
    assert [_releases_of(sitting) for sitting, _ in stored] == [
        ["9.0.0", "9.1.0"],
        ["9.1.0", "9.2.0"],
    ]
    timed = {"import engine", "Suite.time_it('all')", "Suite.time_it('new')"}
    assert set(_ratios(stored[1][1], 0, 1)) == timed
    assert not list((project / ".asv" / "releases").iterdir()), "environments are removed"


def test_a_release_that_does_not_work_with_what_belongs_to_it_is_named(
    project: Path, tmp_path: Path
) -> None:
    _list(project, {"engine": "9.2.0", "addon": "8.2.0"})
    measure = ("measure", "--cases", "time_it")
    reason = "engine 9.2.0: ImportError: engine was built for cpu and addon for cu999"
    printed, _ = _releases(project, tmp_path, *measure, status=3)
    assert f"engine 9.2.0 against 9.1.0: {reason}" in printed
    assert not list((project / ".asv" / "releases").iterdir())
    printed, _ = _releases(project, tmp_path, "list")
    assert re.search(rf"\| 9\.2\.0 .*\| failed: {reason} +\|", printed), printed
    (failed, _), (others, cases) = _sittings(project)
    assert _releases_of(failed) == ["9.1.0", "9.2.0"]
    assert _releases_of(others) == ["9.0.0", "9.1.0"], "the others are measured without it"
    assert "Suite.time_it('all')" in _ratios(cases, 0, 1)


def test_neighbouring_releases_are_measured_at_once(project: Path, tmp_path: Path) -> None:
    _list(project, {"engine": "9.2.0", "addon": "8.2.1"})
    measure = ("measure", "--cases", "time_it.*all")
    printed, _ = _releases(project, tmp_path, *measure)
    [(sitting, cases)] = _sittings(project)
    assert _releases_of(sitting) == ["9.0.0", "9.1.0", "9.2.0"]
    assert {len(numbers) for each in cases for numbers in each.rounds} == {3}
    pairs = [_ratios(cases, *pair)["Suite.time_it('all')"] for pair in ((0, 1), (1, 2), (0, 2))]
    assert [pair.ratio for pair in pairs] == pytest.approx([1.3, 1, 1.3], abs=0.01)
    assert "**engine 9.2.0** against **engine 9.1.0**" in printed
    assert not list((project / ".asv" / "releases").iterdir()), "environments are removed"
    printed, _ = _releases(project, tmp_path, *measure)
    assert "nothing is missing" in printed


def test_a_release_that_needs_another_python_is_named_and_not_installed(
    project: Path, tmp_path: Path
) -> None:
    _list(project, {"engine": "9.2.0", "addon": "8.2.0", "python": "<3"})
    printed, _ = _releases(project, tmp_path, "list")
    reason = f"engine 9.2.0 needs Python <3 and this is {CONFIGURATION['pythons'][0]}"
    assert re.search(rf"\| 9\.2\.0 .*\| {reason}; .* +\|", printed), printed
    printed, errors = _releases(project, tmp_path, "measure", "9.2.0", status=1)
    assert printed.startswith(reason)
    assert errors.count("\n") == 1
    assert _sittings(project) == []
    assert not (project / ".asv" / "releases").exists()


def test_without_an_index_no_release_counts_as_failed(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:1/simple")
    monkeypatch.setenv("PIP_FIND_LINKS", "")
    monkeypatch.setenv("PIP_RETRIES", "0")
    printed, _ = _releases(project, tmp_path, "list")
    assert "| 9.1.0  | 8.1.0 " in printed
    _, errors = _releases(project, tmp_path, "measure", "--cases", "time_it", status=1)
    assert len(errors.splitlines()) == 1
    assert "the package index" in errors
    assert _sittings(project) == []
