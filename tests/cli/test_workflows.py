"""What the hosted workflows promise, read off their files."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.conftest import ROOT, git, make_repository, program, run

BASH = "bash", "--noprofile", "--norc", "-eo", "pipefail", "-c"


@pytest.fixture(scope="module")
def jobs() -> dict[str, Any]:
    text = (ROOT / ".github/workflows/nightly.yml").read_text()
    loaded: dict[str, Any] = yaml.safe_load(text)["jobs"]
    return loaded


class Hosted:
    """The step that keeps the results, run in a clone of a real repository."""

    def __init__(self, folder: Path, script: str) -> None:
        self._folder = folder
        self._script = script
        self.origin = folder / "origin.git"
        attributes = (ROOT / ".gitattributes").read_text()
        make_repository(folder / "author", {".gitattributes": attributes})
        git(folder, "clone", "--quiet", "--bare", "author", "origin.git")

    def clone(self, name: str) -> Path:
        git(self._folder, "clone", "--quiet", str(self.origin), name)
        return self._folder / name

    def keep(self, clone: Path, *parts: dict[str, str], begin: str = "") -> None:
        """Run the step with what the parts of a night measured: file names to texts.

        ``begin`` is the commit of the results that the night began with.
        """
        temporary = self._folder / f"{clone.name}-temporary"
        temporary.mkdir()
        (temporary / "begin.txt").write_text(begin)
        for number, files in enumerate(parts, start=1):
            for name, text in files.items():
                path = temporary / f"night/results-{number}" / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
        environment = dict.fromkeys(["RUNNER_TEMP", "HOME"], str(temporary))
        run(*BASH, self._script, cwd=clone, env=environment | {"PATH": "/usr/bin:/bin"})

    def stored(self) -> dict[str, str]:
        names = git(self.origin, "ls-tree", "-r", "--name-only", "results").splitlines()
        return {name: git(self.origin, "show", f"results:{name}") for name in names}


@pytest.fixture
def hosted(jobs: dict[str, Any], tmp_path: Path) -> Hosted:
    [script] = [step["run"] for step in jobs["keep"]["steps"] if "git push" in step.get("run", "")]
    return Hosted(tmp_path, script.replace("attempt * 10", "0"))


def test_a_push_that_lost_a_race_is_repeated_on_top(hosted: Hosted) -> None:
    first = {"m/1.json": "1", "n/benchmarks.json": "a"}
    hosted.keep(hosted.clone("a"), {"m/1.json": "old"}, first)  # a later part wins
    slow, quick = hosted.clone("slow"), hosted.clone("quick")
    hosted.keep(quick, {"quick/1.json": "q", "n/benchmarks.json": "quick"})
    hosted.keep(slow, {"slow/1.json": "s", "n/benchmarks.json": "slow"})
    assert hosted.stored() == {
        "results/n/benchmarks.json": "quick\nslow",
        "results/m/1.json": "1",
        "results/quick/1.json": "q",
        "results/slow/1.json": "s",
    }


def test_what_was_pushed_during_a_night_stays(hosted: Hosted) -> None:
    hosted.keep(hosted.clone("a"), {"m/1.json": "1", "m/attempts.jsonl": "a\n"})
    begin = git(hosted.origin, "rev-parse", "results")
    hosted.keep(hosted.clone("b"), {"m/2.json": "2", "m/attempts.jsonl": "a\nb\n"})
    night = {"m/1.json": "1", "m/3.json": "3", "m/attempts.jsonl": "a\nc\n"}
    hosted.keep(hosted.clone("c"), night, begin=begin)
    stored = hosted.stored()
    assert [stored[f"results/m/{number}.json"] for number in (1, 2, 3)] == ["1", "2", "3"]
    assert sorted(stored["results/m/attempts.jsonl"].splitlines()) == ["a", "b", "c"]


@pytest.mark.parametrize("begin", ["origin/main", "--orphan", "<main>", "0" * 40, "x\n" * 99])
def test_a_night_begins_with_a_commit_of_the_results_alone(hosted: Hosted, begin: str) -> None:
    hosted.keep(hosted.clone("a"), {"m/1.json": "1"})
    begin = begin.replace("<main>", git(hosted.origin, "rev-parse", "main"))
    hosted.keep(hosted.clone("b"), {"m/2.json": "2"}, begin=begin)
    assert hosted.stored() == {"results/m/1.json": "1", "results/m/2.json": "2"}
    subjects = git(hosted.origin, "log", "--format=%s", "results").splitlines()
    assert subjects == ["Add the results of the night"] * 2


@pytest.mark.parametrize("job", ["measure", "site"])
def test_notes_are_those_of_main(jobs: dict[str, Any], tmp_path: Path, job: str) -> None:
    clone = tmp_path / "clone"
    make_repository(clone, {"results/notes.toml": "new"})
    make_repository(clone / "earlier", {"results/notes.toml": "old", "results/m.json": "1"})
    scripts = [step.get("run", "") for step in jobs[job]["steps"]]
    [script] = [script for script in scripts if "cp -R earlier" in script]
    environment = {"PATH": "/usr/bin:/bin", "RUNNER_TEMP": str(tmp_path)}
    run(*BASH, script, cwd=clone, env=environment)
    assert (clone / "results/notes.toml").read_text() == "new"
    assert (clone / "results/m.json").read_text() == "1"


def test_what_was_removed_during_a_night_stays_if_the_night_measured_it(hosted: Hosted) -> None:
    stored = {"m/1.json": "1", "m/2.json": "2", "m/notes.toml": "a"}
    hosted.keep(hosted.clone("a"), stored)
    begin = git(hosted.origin, "rev-parse", "results")
    person = hosted.clone("person")
    git(person, "switch", "--quiet", "results")
    git(person, "rm", "--quiet", "results/m/1.json", "results/m/2.json")
    git(person, "commit", "--quiet", "--message", "Remove results")
    git(person, "push", "--quiet", "origin", "results")
    hosted.keep(hosted.clone("b"), stored | {"m/2.json": "new", "m/3.json": "3"}, begin=begin)
    assert hosted.stored() == {
        "results/m/2.json": "new",
        "results/m/3.json": "3",
        "results/m/notes.toml": "a",
    }


GH = """
case "$1 $2" in
"issue list") cat issues.txt ;;
"issue create") echo "$6" >> issues.txt; cat >> bodies.txt ;;
esac
"""
"""A program with the arguments that the workflow gives to GitHub's own."""


@pytest.mark.needs("jq")
def test_each_commit_that_slowed_cases_has_one_issue(jobs: dict[str, Any], tmp_path: Path) -> None:
    [script] = [step["run"] for step in jobs["issues"]["steps"] if "run" in step]
    program(tmp_path / "gh", GH)
    (tmp_path / "issues.txt").touch()
    slower = {"verdict": "slower", "worse": True, "ratio": 1.2}
    slower |= {"machine": "m", "commits": ["a", "b"]}
    changes = [
        slower | {"case": "s.time_a"},
        slower | {"case": "s.time_b", "ratio": 1.034, "machine": "n"},
        slower | {"case": "s.time_c", "commits": ["c"]},
        slower | {"case": "s.time_d", "commits": ["d"], "measured": False},
        slower | {"case": "s.time_e", "commits": ["e"], "expected": "expected: more layers"},
        slower | {"case": "s.time_f", "commits": ["f"], "verdict": "faster", "worse": False},
    ]
    (tmp_path / "changes.json").write_text(json.dumps({"differences": changes}))
    for _ in range(2):
        run(*BASH, f"PATH=.:$PATH; {script}", cwd=tmp_path)
    assert (tmp_path / "issues.txt").read_text() == "Slower since b\nSlower since c\n"
    assert (tmp_path / "bodies.txt").read_text() == (
        "    s.time_a on m: 20 %\n    s.time_b on n: 3.4 %\n    s.time_c on m: 20 %\n"
    )
