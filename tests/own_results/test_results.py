"""What asv-watch says of this project's own results is what an auditor computes from the files.

Pages say what the results say.
"""

import json
import re
import tomllib
from collections import defaultdict
from math import log
from pathlib import Path

import pytest

from asv_watch.asv.publish_hook import Project
from asv_watch.asv.settings import read_configuration
from asv_watch.errors import WatchError
from asv_watch.judge.changes import Findings, analyse
from asv_watch.judge.graph import CaseGraph
from asv_watch.records.history import History
from asv_watch.records.loading import load_history
from asv_watch.records.notes import read_notes
from asv_watch.site.build import build_site
from asv_watch.site.contents import contents_of, in_order
from asv_watch.versions.git import read_commits
from asv_watch.versions.version import release_order
from tests.conftest import ROOT
from tests.own_results import auditor
from tools.documented_results import marked_pages, written

MACHINES = ("ci-2core", "ci-2core-xeon", "ci-2core-zen5")
WITH_A_LONG_HISTORY = ("ci-2core", "ci-2core-zen5")
EFFECT = log(1.015)


@pytest.fixture(scope="module")
def history() -> History:
    """The committed results of this project, in the order of its site."""
    try:
        configuration = read_configuration(ROOT)
        commits = read_commits(configuration.repository, configuration.branch)
        layout = configuration.declared.layout
        return in_order(load_history(configuration.results, commits, layout=layout))
    except WatchError as error:  # no checkout, or a shallow clone, which lacks what was compared
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def findings(history: History) -> Findings:
    return analyse(history)


@pytest.mark.parametrize("machine", MACHINES)
def test_ratios_of_releases_are_what_the_files_say(machine: str, findings: Findings) -> None:
    lines = auditor.read(ROOT / "results" / machine)
    metrics = {line.metric for line in lines if not line.case.startswith("import ")}
    usual = {metric: auditor.usual_spread(lines, metric) for metric in metrics}
    by_case: dict[str, list[auditor.Line]] = defaultdict(list)
    for line in lines:
        if line.kind == "release" and len(set(line.releases)) == len(line.releases):
            by_case[line.case].append(line)
    graphs, checked = findings.graphs[machine].releases("torch"), 0
    for case, compared in by_case.items():
        graph = graphs[case]
        fit = auditor.Fit(compared, usual[compared[0].metric], graph.between)
        for ends in graph.pairs:
            shown, (ratio, interval) = graph.ratio(*ends), fit.ratio(*ends)
            assert shown is not None
            numbers = pytest.approx([ratio, *interval], rel=1e-4)
            assert [shown.ratio, *shown.interval] == numbers, case
            size, low, high = abs(log(ratio)), *map(log, interval)
            if min(abs(low), abs(high), abs(size - EFFECT)) > 1e-4:
                assert shown.differs == (size > EFFECT and low * high > 0), case
            checked += 1
    assert checked > 800


@pytest.mark.parametrize("machine", WITH_A_LONG_HISTORY)
def test_few_sittings_contradict_the_others(machine: str, findings: Findings) -> None:
    """Each 99 % interval against all other paths."""
    graphs = findings.graphs[machine]
    of_commits = {case: graph for case in graphs.cases if (graph := graphs.commits(case))}
    found: dict[tuple[str, bool], list[bool]] = defaultdict(list)
    kinds: dict[str, dict[str, CaseGraph]] = {
        "commits": of_commits,
        "releases": graphs.releases("torch"),
    }
    for kind, of_cases in kinds.items():
        for case, graph in of_cases.items():
            if not case.startswith("import "):
                found[kind, ".peakmem_" in case] += graph.contradictions()
    assert sum(map(len, found.values())) > 800
    for group, contradicted in found.items():
        assert sum(contradicted) <= 0.02 * len(contradicted), group


def test_a_version_seldom_differs_from_itself(history: History, findings: Findings) -> None:
    """With any recipe: the site shows those of the newest one alone."""
    claims = total = 0
    for machine, comparisons in history.comparisons.items():
        for comparison in comparisons:
            if comparison.sitting.kind != "null" or comparison.metric != "time":
                continue
            ratio = findings.graphs[machine].alone(comparison, 0, 1)
            if ratio is not None:
                low, high = ratio.interval
                claims += not low <= 1 <= high and abs(log(ratio.ratio)) >= EFFECT
                total += 1
    assert total > 400
    assert claims <= total / 300


def test_the_site_is_built_from_them(history: History, findings: Findings, tmp_path: Path) -> None:
    contents, project = contents_of(history, findings), Project("torchspeed", "", "", "")
    build_site(tmp_path / "site", contents, generated=1, project=project)
    changes = json.loads((tmp_path / "site" / "index.json").read_text())["changes"]
    assert sum(change["state"] == "measured" for change in changes) > 30


def test_no_line_of_the_record_was_lost_or_changed(history: History) -> None:
    """As git does where it keeps the lines of both sides, and one had rewritten some."""
    assert history.problems == ()


def test_the_versions_of_this_project_are_commits_of_it() -> None:
    commits = read_commits(ROOT, "main")
    notes, problems = read_notes(ROOT / "results", commits)
    assert problems == []
    assert notes.unplaced == ()
    ordered = sorted(notes.versions, key=notes.versions.__getitem__)
    assert ordered == sorted(notes.versions, key=release_order)
    shown = load_history(ROOT / "results", commits).commits
    assert set(ordered) <= {tag for commit in shown for tag in commit.tags}
    changelog = (ROOT / "CHANGELOG.md").read_text()
    sections = re.findall(r"^## \[(\d\S*)\] - 20\d\d-\d\d-\d\d$", changelog, re.M)
    assert [f"v{section}" for section in reversed(sections)] == ordered
    package = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert package["version"] == sections[0]


@pytest.mark.parametrize("path", marked_pages(), ids=lambda path: path.name)
def test_a_page_says_what_the_results_say(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text == written(text), "run `python -m tools.documented_results`"


def test_a_number_that_was_changed_by_hand_is_found() -> None:
    marker = (
        "<!-- change: torch 2.8.0 on ci-2core: plain.PlainModels.time_forward('lenet5', 'cpu') -->"
    )
    page = written(f"It became {marker}−99.9 %<!-- end --> faster.")
    assert "−99.9 %" not in page
    assert "−10." in page
    table = written("<!-- changes: torch on ci-2core-xeon: 12 % on 1 day --><!-- end -->")
    assert "`plain.PlainModels.time_backward('tcn', 'cpu')` | +60." in table
    assert "sixteen" not in written("<!-- releases: torch on ci-2core -->sixteen<!-- end -->")
    with pytest.raises(ValueError, match="no releases of torch were compared on nothing"):
        written("<!-- releases: torch on nothing --><!-- end -->")
    with pytest.raises(ValueError, match="no change of nothing"):
        written("<!-- change: torch 2.8.0 on ci-2core: nothing --><!-- end -->")
