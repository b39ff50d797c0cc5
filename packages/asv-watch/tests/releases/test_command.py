"""`asv-watch releases` to the end: real pip and environments, wheels made for the test."""

import functools
import json
import os
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from asv_watch.asv.settings import EnvironmentSpec, read_configuration
from asv_watch.comparison import Comparison, Ratio, Sitting
from asv_watch.releases import measure
from tests.clockwork import CLOCK
from tests.conftest import commit
from tests.interruptible import run_driver
from tests.planted_comparisons import compared_releases, store
from tests.stored import stored_comparisons
from tests.torchless import CONFIGURATION, give_environment, project_files
from tests.wheels import write_wheel

_releases = functools.partial(run_driver, "releases")

FACTS = """
import json

import addon
import engine

print(json.dumps({"facts": {"kernels": engine.__version__ + " kernels"}}))
"""
SUITE = f"""{CLOCK}

def peakmem_it():
    pass

def track_it():
    import engine
    return engine.WORK

def track_missing_it():
    raise NotImplementedError("no such operator")

def track_broken_it():
    import engine
    if engine.WORK > 2000:
        raise RuntimeError("out of cheese")
    return 1

track_it.exact = track_missing_it.exact = track_broken_it.exact = True
track_it.unit = "steps"

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


@pytest.fixture
def project(
    make_repository: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """A project that lists the older two of five releases; there are wheels of all of them."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    for engine, work, addon, code in (
        ("9.0.0", 2000, "8.0.0", ""),
        ("9.1.0", 2600, "8.1.0", ""),
        ("9.2.0", 2600, "8.2.0", "raise ImportError('it was built for cu999')"),
        ("9.2.0", 2600, "8.2.1", ""),
        ("9.3.0", 3380, "8.3.0", ""),
        ("9.4.0", 3380, "8.4.0", "raise ImportError('it was built for cu999')"),
    ):
        write_wheel(folder, "engine", engine, f'__version__ = "{engine}"\nWORK = {work}\n')
        write_wheel(folder, "addon", addon, code, f"engine=={engine}")
    others = os.environ.get("PIP_FIND_LINKS", "")
    monkeypatch.setenv("PIP_FIND_LINKS", f"{others} {folder}".strip())
    listed = [{"engine": f"9.{number}.0", "addon": f"8.{number}.0"} for number in (1, 0)]
    settings = {"releases": {"engine": listed}, "facts_script": "facts.py"}
    files = {"facts.py": FACTS, "src/package.py": ""}
    return make_repository(project_files(SUITE, files, **settings))


def _list(project: Path, engine: str, addon: str, **others: str) -> None:
    """List a release above the others."""
    path = project / "asv.conf.json"
    settings = json.loads(path.read_text())
    settings["releases"]["engine"].insert(0, {"engine": engine, "addon": addon, **others})
    commit(project, {path.name: json.dumps(settings)}, "List a release")


def test_releases_are_compared_once_and_the_list_says_so(project: Path, tmp_path: Path) -> None:
    it = ("measure", "--cases", "_it")
    file = tmp_path / "answer.json"
    to_file = ("--json", str(file))
    _, errors = _releases(project, tmp_path, "list", *to_file, status=2)
    assert "list shows all cases and writes no JSON" in errors
    _, errors = _releases(project, tmp_path, "mesure", status=1)
    assert "lists releases of engine, not of 'mesure'; name one" in errors
    printed, _ = _releases(project, tmp_path, *it, *to_file, status=3)
    measured = _by_case(file)
    slower = measured["Suite.time_it('all')"]
    assert (slower["verdict"], slower["sides"]) == ("slower", ["engine 9.0.0", "engine 9.1.0"])
    assert measured["track_it"]["verdict"] == "worse"
    assert measured["track_missing_it"]["reason"] == "no such operator"
    assert "Failed: suite.track_broken_it: engine 9.1.0: RuntimeError: out of cheese" in printed
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
    assert {each.case: each.skipped for each in comparisons if each.skipped} == {
        "suite.Suite.time_it('new')": {0: "engine 9.0 has no such operator"},
        "suite.track_missing_it": {0: "no such operator"},
    }
    assert (ratios["track_it"].before, ratios["track_it"].after) == (2000, 2600)
    assert ratios["peakmem_it"].ratio == pytest.approx(1, abs=0.1)
    assert not list((project / ".asv" / "releases").iterdir()), "environments are removed"
    environments = read_configuration(project).environments_folder
    assert not list(environments.glob("*/bin")), "none of asv's own is made"

    printed, errors = _releases(project, tmp_path, *it, "9.1.0")
    assert errors == ""
    assert "nothing is missing: each release is compared already" in printed
    printed, _ = _releases(project, tmp_path, "list")
    assert re.search(
        r"\| 9\.1\.0 .*\| 3 cases, 1 exact value, 1 failed, \d{4}-\d\d-\d\d +\|", printed
    ), printed
    printed, errors = _releases(project, tmp_path, "findings", *to_file)
    assert errors == ""
    answer = json.loads(file.read_text())
    assert (answer["schema"], answer["command"]) == (1, "releases")
    slower = _by_case(file)["Suite.time_it('all')"]
    assert (slower["verdict"], slower["worse"], slower["machine"]) == ("slower", True, "m")
    assert slower["reason"] == "engine 9.1.0 against 9.0.0"
    assert slower["ratio"] == pytest.approx(1.3, abs=0.01)
    assert printed.startswith("engine 9.1.0 against 9.0.0: ")
    row = r"^\| `suite\.Suite\.time_it\('all'\)` \| one day +\|.*: \+\d+\.\d % \("
    assert re.search(row, printed, re.M)
    unknown = _releases(project, tmp_path, "findings", "--cases", "no_such")
    assert unknown[0].startswith("no compared case matches no_such")
    _, errors = _releases(project, tmp_path, "list", "--machine", "typo", status=1)
    assert re.search(r"^asv-watch: machine 'typo' has no results .+; give --machine m$", errors)


def _sittings(project: Path) -> list[tuple[Sitting, list[Comparison]]]:
    """Return what was stored of each sitting, the oldest first."""
    by_key: dict[object, list[Comparison]] = {}
    for comparison in stored_comparisons(project):
        by_key.setdefault(comparison.sitting.key, []).append(comparison)
    return [(cases[0].sitting, cases) for cases in by_key.values()]


def _ratios(comparisons: Sequence[Comparison], before: int, after: int) -> dict[str, Ratio]:
    ratios = ((each.case, each.ratio(before, after)) for each in comparisons)
    return {case.removeprefix("suite."): ratio for case, ratio in ratios if ratio is not None}


def _by_case(answer: Path) -> dict[str, Any]:
    differences = json.loads(answer.read_text())["differences"]
    return {each["case"].removeprefix("suite."): each for each in differences}


def _releases_of(sitting: Sitting) -> list[str]:
    return [version.release.version for version in sitting.versions]


def test_a_night_compares_releases_that_were_added_since_at_once(
    project: Path, tmp_path: Path, made_environment: Path
) -> None:
    give_environment(project, made_environment)
    known = {f"suite.Suite.time_it('{release}')": 1.3 for release in ("all", "new")}
    compared = compared_releases("9.0.0", "9.1.0", known, machine="m", requirement="engine")
    store(project / "results", compared)
    for engine, addon in (("9.2.0", "8.2.1"), ("9.3.0", "8.3.0"), ("9.4.0", "8.4.0")):
        _list(project, engine, addon)
    # Three: asv's own environment has no engine, so its cases fail.
    printed, _ = run_driver("nightly", project, tmp_path, "--cases", "time_it", status=3)
    assert "comparison:\nengine 9.4.0 against 9.3.0 against 9.2.0 against 9.1.0\n" in printed
    stored = [each for each in _sittings(project) if each[0].kind == "release"]
    assert [_releases_of(sitting) for sitting, _ in stored] == [
        ["9.0.0", "9.1.0"],
        ["9.3.0", "9.4.0"],
        ["9.1.0", "9.2.0", "9.3.0"],
    ]
    attempts = (project / "results/m/attempts.jsonl").read_text()
    assert '"releases engine 9.3.0 9.4.0"' in attempts, "that pair alone is tried again"
    _, cases = stored[2]
    assert {len(numbers) for each in cases for numbers in each.rounds} == {3}
    timed = {"import engine", "Suite.time_it('all')", "Suite.time_it('new')"}
    assert set(_ratios(cases, 0, 1)) == timed
    pairs = [_ratios(cases, *pair)["Suite.time_it('all')"] for pair in ((0, 1), (1, 2), (0, 2))]
    assert [pair.ratio for pair in pairs] == pytest.approx([1, 1.3, 1.3], abs=0.01)
    assert not list((project / ".asv" / "releases").iterdir()), "environments are removed"


def test_a_release_that_does_not_work_is_named(project: Path, tmp_path: Path) -> None:
    _list(project, "9.2.0", "8.2.0")
    reason = "engine 9.2.0: ImportError: it was built for cu999"
    printed, _ = _releases(project, tmp_path, "measure", "--cases", "time_it", status=3)
    assert f"engine 9.2.0 against 9.1.0: {reason}" in printed
    assert not list((project / ".asv" / "releases").iterdir())
    printed, _ = _releases(project, tmp_path, "list")
    assert re.search(rf"\| 9\.2\.0 .*\| failed: {reason} +\|", printed), printed
    (failed, _), (others, cases) = _sittings(project)
    assert _releases_of(failed) == ["9.1.0", "9.2.0"]
    assert _releases_of(others) == ["9.0.0", "9.1.0"], "the others are measured without it"
    assert "Suite.time_it('all')" in _ratios(cases, 0, 1)


def test_a_release_that_needs_another_python_is_named(project: Path, tmp_path: Path) -> None:
    _list(project, "9.2.0", "8.2.0", python="<3")
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
    assert "| 9.1.0  | 8.1.0 | missing " in printed
    _, errors = _releases(project, tmp_path, "measure", "--cases", "time_it", status=1)
    assert len(errors.splitlines()) == 1
    assert "the package index" in errors
    assert _sittings(project) == []


def _listed(newest: int) -> list[EnvironmentSpec]:
    numbers = [f"9.{number}.0" for number in range(newest, -1, -1)]
    return [EnvironmentSpec({"numpy": number}, "", Path()) for number in numbers]


def _versions(pairs: Iterable[measure.ReleasePair]) -> list[tuple[str, str]]:
    return [(pair.before.version, pair.after.version) for pair in pairs]


def test_neighbours_are_paired_and_cases_without_a_ratio_are_missing() -> None:
    ratios = {"fast": 1.0}
    compared = compared_releases("9.0.0", "9.1.0", ratios, skipped="slow", requirement="numpy")
    of_another = compared_releases("9.1.0", "9.2.0", ratios, requirement="scipy")
    pairs = measure.release_pairs("numpy", _listed(2), [*compared, *of_another])
    assert _versions(pairs) == [("9.1.0", "9.2.0"), ("9.0.0", "9.1.0")]
    cases = ["fast", "absent", "slow"]
    assert [pair.missing(cases) for pair in pairs] == [cases, ["absent"]]


def test_a_release_is_paired_with_another_one_or_itself_where_that_is_wanted() -> None:
    for release, against in (("9.0.0", "9.2.0"), ("9.1.0", "9.1.0")):
        pairs = measure.release_pairs("numpy", _listed(2), [], release=release, against=against)
        assert _versions(pairs) == [(release, against)]
    assert measure.release_pairs("numpy", _listed(2), [], release="9.0.0") == ()


def test_only_neighbours_that_lack_the_same_cases_are_measured_at_once_up_to_five() -> None:
    compared = compared_releases("9.0.0", "9.1.0", {"fast": 1.0}, requirement="numpy")
    pairs = measure.release_pairs("numpy", _listed(2), compared)
    assert measure.release_chains(pairs, ["fast", "slow"], 5) == [[pairs[0]], [pairs[1]]]
    assert measure.release_chains(pairs, None, 5) == [list(pairs)]
    assert measure.release_chains(pairs, ["fast"], 5) == [[pairs[0]]]
    with_newest = measure.release_pairs("numpy", _listed(2), [], against="9.2.0")
    chains = measure.release_chains(with_newest, ["fast"], 5)
    assert len(chains) == 2, "the older two are no neighbours here"
    many = measure.release_pairs("numpy", _listed(6), [])
    assert list(map(len, measure.release_chains(many, ["fast"], 5))) == [4, 2]
    assert list(map(len, measure.release_chains(many, ["fast"], 2))) == [1] * 6, "a small disk"
