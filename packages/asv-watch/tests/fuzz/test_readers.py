"""Everything that is read from outside, damaged at random: no traceback, no hang, no silent loss.

``FUZZ_EXAMPLES=5000 make fuzz`` tries more than the suite does.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import math
import shutil
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asv_watch.asv.selection import SHORT
from asv_watch.asv.settings import read_configuration
from asv_watch.engine.workplace import Workplace
from asv_watch.errors import WatchError
from asv_watch.judge.findings import analyse
from asv_watch.night.attempts import Attempts
from asv_watch.night.queue import Situation, next_task
from asv_watch.night.tasks import SOURCES
from asv_watch.records.comparisons import CaseRatio, Measurement, Unmeasured
from asv_watch.records.history import History
from asv_watch.records.json_lines import append_lines
from asv_watch.records.loading import load_history
from asv_watch.records.measurements import MeasuredCase, MeasurementWriter
from asv_watch.records.records import Outcome, case_name
from asv_watch.records.side_files import MEASURED
from asv_watch.results import check_results
from asv_watch.site.build import build_site
from asv_watch.site.contents import contents_of, in_order
from asv_watch.site.report import write_report
from asv_watch.versions.git import read_commits
from asv_watch.versions.version import Version
from tests.fuzz.damage import damaged, fuzz, no_hang
from tests.generator import TIME_AND_MEMORY, Generated, Plan, Suite, generate
from tests.torchless import CONFIGURATION


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Generated:
    """Results with a file of every kind, all sound."""
    suite = Suite("s.S", TIME_AND_MEMORY[:3], {"model": ("darnn", "lstnet"), "device": ("cpu",)})
    plan = Plan(
        commits=12,
        suites=(suite,),
        machines=("desk",),
        machines_with_cuda=(),
        steps=1,
        failures=0.1,
        unmeasured_commits=0.0,
        tag_every=5,
    )
    made = generate(tmp_path_factory.mktemp("sound"), plan)
    for path in made.results.glob("*/*-*.json"):
        append_lines(path.with_suffix(MEASURED), _record(path))
    versions = [Version(commit, {"torch": "2.15.0"}, "3.11") for commit in made.hashes]
    case = "s.S.time_forward('darnn', 'cpu')"
    alone = Measurement(kind="run", at=1_760_300_000, machine="desk", versions=(versions[0],))
    record = path.with_suffix(MEASURED)
    MeasurementWriter(made.results, alone, record).add(MeasuredCase(case, 1, rounds=((0.1,),) * 3))
    for number, kind in enumerate(
        ("compare", "reference", "confirm", "release", "null", "planted", "bisect")
    ):
        header = Measurement(
            kind=kind,  # type: ignore[arg-type]
            at=1_760_300_000 + number,
            machine="desk",
            versions=(versions[number], versions[number + 1]),
        )
        writer = MeasurementWriter(made.results, header)
        writer.add(CaseRatio(case, header.at, (1.2, 1.21), 1.2, (1.1, 1.3), 0.1, 0.12))
        writer.add(Unmeasured("s.S.time_backward('darnn', 'cpu')", header.at, failed="a reason"))
    ladder = tuple(versions[:3])
    measured = Measurement(kind="compare", at=1_760_300_100, machine="desk", versions=ladder)
    writer = MeasurementWriter(made.results, measured)
    writer.add(MeasuredCase(case, 1_760_300_100, rounds=((0.1, 0.11, 0.12), (0.1, 0.12, 0.12))))
    writer.add(MeasuredCase("s.S.track_x", 1_760_300_100, "calls", ((1, 1, 2),), exact=True))
    operator = {"name": "aten::mm", "shapes": "[]", "calls": [1, 1], "seconds": [1.0, 2.0]}
    explained = {"seconds": [1.0, 2.0], "operators": [operator | {"clear": True}], "counts": {}}
    sides = {"before": versions[2], "after": versions[3]}
    line = {"case": case, "at": 1_760_300_000, **sides, "explanation": explained}
    append_lines(made.results / "desk/explanations.jsonl", [line])
    task = f"{made.hashes[0]} virtualenv-py3.11-torch2.15.0-torchvision0.29.2-OMP_NUM_THREADS1"
    attempts = {"task": task, "at": 1, "suites": "s", "failed": "why"}
    append_lines(made.results / "desk/attempts.jsonl", [attempts])
    shutil.copy(made.results / "benchmarks.json", made.results / "desk/benchmarks.json")
    (made.results / "notes.toml").write_text(
        f'[[change]]\ncommit = "{made.hashes[6]}"\nkind = "expected"\ntext = "So be it"\n'
    )
    return made


def _record(path: Path) -> list[MeasuredCase]:
    """The line of each case that has a value, as a run writes it: a row that is lost is seen."""
    return [
        MeasuredCase(case_name(name, params), 1_760_300_000)
        for name, row in json.loads(path.read_bytes())["results"].items()
        for value, params in zip(row[0] or (), itertools.product(*row[1]), strict=False)
        if value is not None and not math.isnan(value)
    ]


def sizes(history: History) -> dict[str, int]:
    """How much of each kind a history holds."""
    return {
        "runs": sum(
            run.outcome is not Outcome.NEVER_RUN
            for series in history.series
            for run in series.runs.values()
        ),
        "comparisons": sum(map(len, history.comparisons.values())),
        "explanations": sum(map(len, history.explanations.values())),
        "records": sum(map(len, history.recorded.values())),
        "notes": len(history.notes.changes),
    }


@dataclass(frozen=True)
class Loaded:
    """A folder of results, read by everything that reads it."""

    history: History

    @classmethod
    def of(cls, results: Path, made: Generated, site: Path) -> Loaded:
        commits = read_commits(made.repository)
        check_results(results)
        history = in_order(load_history(results, commits))
        findings = analyse(history)
        contents = contents_of(history, findings)
        write_report(contents, findings.changes, "markdown")
        Attempts(results / "desk", "s", lambda: 1.0)
        project = {"name": "p", "url": "", "commit_url": "", "site": ""}
        site.mkdir(exist_ok=True)
        build_site(site, contents, generated=1, project=project)
        return cls(history)

    @property
    def complaints(self) -> int:
        return len(self.history.problems) + sum(left.count for left in self.history.left_out)


def _is_sound_with_fewer_entries(name: str, content: bytes, damaged_content: bytes) -> bool:
    """Tell whether whole results or notes are gone, as if less was measured or noted."""
    try:
        if name == "notes.toml":
            noted, notes = (tomllib.loads(text.decode()) for text in (content, damaged_content))
            return all(entry in noted[kind] for kind in notes for entry in notes[kind])
        had, has = json.loads(content), json.loads(damaged_content)
        fewer = has["results"].items() < had["results"].items()
        return fewer and {**had, "results": None} == {**has, "results": None}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return False


@pytest.fixture(scope="module")
def before(sound: Generated, tmp_path_factory: pytest.TempPathFactory) -> Loaded:
    """The results before any damage."""
    return Loaded.of(sound.results, sound, tmp_path_factory.mktemp("site"))


@fuzz
@given(data=st.data())
def test_results(
    sound: Generated, before: Loaded, tmp_path_factory: pytest.TempPathFactory, data: Any
) -> None:
    files = sorted(path for path in sound.results.rglob("*") if path.is_file())
    kinds: dict[str, Path] = {}
    for path in files:  # the last of each kind
        kinds["".join(path.suffixes[-2:]) if "-" in path.name else path.name] = path
        if path.parent.name == "comparisons":
            kinds[path.name.split("-")[1]] = path
    damage = data.draw(st.sampled_from(sorted(kinds)))
    path = kinds[damage]
    content = data.draw(damaged(path.read_bytes()))
    folder = tmp_path_factory.mktemp("damaged")
    results = folder / "results"
    try:
        with no_hang():
            shutil.copytree(sound.results, results)
            (folder / "asv.conf.json").write_text(json.dumps(_configuration(sound)))
            (results / path.relative_to(sound.results)).write_bytes(content)
            try:
                after = Loaded.of(results, sound, folder / "site")
            except WatchError as error:
                assert "\n" not in str(error)  # noqa: PT017 - whatever it is
                return
        lost = {
            kind: count
            for kind, count in sizes(before.history).items()
            if sizes(after.history)[kind] < count
        }
        has_less = _is_sound_with_fewer_entries(path.name, path.read_bytes(), content)
        assert not lost or has_less or after.complaints > before.complaints, (damage, lost)
        with no_hang():
            _plan_a_night(results, sound, folder)
    finally:
        shutil.rmtree(folder)


def _configuration(made: Generated) -> dict[str, Any]:
    """Settings by which the results are those of the project."""
    pins = {"torch": "2.15.0", "torchvision": "0.29.2"}
    [python] = CONFIGURATION["pythons"]
    include = [{"python": python, "req": pins, "env_nobuild": {"OMP_NUM_THREADS": "1"}}]
    other = {"repo": str(made.repository), "matrix": {}, "include": include}
    exclude = [{"req": {"torch": None}}]
    return CONFIGURATION | other | {"exclude": exclude, "measured_paths": []}


def _plan_a_night(results: Path, made: Generated, folder: Path) -> None:
    """List every task of a night."""
    configuration = read_configuration(folder)
    workplace = Workplace(folder, configuration, configuration.environments, "desk")
    commits = read_commits(made.repository)
    history = None
    with contextlib.suppress(WatchError):
        history = workplace.load_history(commits)
    attempts = Attempts(results / "desk", "s", lambda: 1.0)
    try:
        situation = Situation(workplace, SHORT, attempts, commits, history)
        tried: set[str] = set()
        while task := next_task(situation, SOURCES, tried, set()):
            tried.add(task.name)
        assert tried
    except WatchError as error:
        assert "\n" not in str(error)  # noqa: PT017 - whatever it is
