"""What the page says of this project's own results is what an auditor computes from the files.

Numbers are read from the data files that the page draws, and recomputed from the raw files alone,
by `tests.own_results.auditor`.
"""

import json
import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from math import isnan, log
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest

from asv_watch.asv.settings import Project, read_configuration
from asv_watch.comparison import Metric
from asv_watch.errors import WatchError
from asv_watch.judge.changes import Findings, analyse
from asv_watch.records.history import History, load_history
from asv_watch.records.notes import read_notes
from asv_watch.site.about_data import about_data
from asv_watch.site.build import build_site
from asv_watch.site.contents import contents_of, in_order
from asv_watch.site.front_page import front_page
from asv_watch.versions.git import check_complete, read_commits
from asv_watch.versions.version import release_order
from tests.conftest import ROOT
from tests.own_results import auditor

KINDS: tuple[Metric, ...] = ("time", "memory")
WITH_A_LONG_HISTORY = ("ci-2core", "ci-2core-zen5")
EFFECT = log(1.015)


@dataclass(frozen=True)
class Page:
    """The data files of the page."""

    index: dict[str, Any]
    releases: list[dict[str, Any]]
    release_pairs: list[dict[str, Any]]
    grid: dict[str, Any]
    about: dict[str, Any]
    histories: dict[int, dict[str, Any]]
    """Number of a series to its values, pairs and stretches."""

    def case(self, series: int) -> str:
        return str(self.index["cases"][self.index["series"][series]["c"]]["key"])

    def machine(self, series: int) -> str:
        return str(self.index["machines"][self.index["series"][series]["m"]]["name"])

    def release(self, series: int) -> str:
        environment = self.index["series"][series]["e"]
        return str(self.index["environments"][environment]["requirements"].get("torch", ""))

    def commit(self, index: int) -> str:
        return str(self.index["commits"][index][0])

    def is_main(self, case: str) -> bool:
        """Whether a case stands on the first screen."""
        for shown in self.index["cases"]:
            if shown["key"] == case:
                group = self.index["rows"][shown["row"]]["group"]
                return any(of["name"] == group and of["main"] for of in self.index["groups"])
        return False


@pytest.fixture(scope="module")
def stored_history() -> History:
    """The committed results of this project, in the order of its site."""
    try:
        check_complete(ROOT)
    except WatchError as error:  # no checkout, or a shallow clone, which lacks what was compared
        pytest.skip(str(error))
    configuration = read_configuration(ROOT)
    commits = read_commits(configuration.repository, configuration.branch)
    layout = configuration.declared.layout
    return in_order(load_history(configuration.results, commits, layout=layout))


@pytest.fixture(scope="module")
def stored_findings(stored_history: History) -> Findings:
    """What the committed results show."""
    return analyse(stored_history)


@pytest.fixture(scope="module")
def audits(stored_findings: Findings) -> dict[str, auditor.Audit]:
    """The committed results of each machine, read by the auditor."""
    audits = {}
    for machine in auditor.MACHINES:
        graphs = stored_findings.graphs[machine]
        between = {("versions", case): graph.between for case, graph in graphs.commits.items()} | {
            ("releases", case): graph.between for case, graph in graphs.releases("torch").items()
        }
        audits[machine] = auditor.Audit(auditor.read(ROOT / "results" / machine), between)
    return audits


def _data(path: Path) -> Any:
    """Return what a data file gives to the page: the second argument of its call."""
    text = path.read_text(encoding="utf-8")
    return json.loads(f"[{text[text.index('(') + 1 : text.rindex(')')]}]")[1]


@pytest.fixture(scope="module")
def page(
    stored_history: History,
    stored_findings: Findings,
    tmp_path_factory: pytest.TempPathFactory,
) -> Page:
    folder = tmp_path_factory.mktemp("stored") / "site"
    project = Project("torchspeed", "", "", "")
    contents = contents_of(stored_history, stored_findings)
    build_site(folder, contents, generated=1, project=project)
    _, grid = front_page(contents)
    assert grid
    files = [_data(path) for path in sorted((folder / "data" / "s").glob("*.js"))]
    releases, release_pairs = (
        _data(folder / "data" / f"{name}.js") for name in ("releases", "release-pairs")
    )
    return Page(
        json.loads((folder / "index.json").read_text()),
        releases,
        release_pairs,
        grid,
        about_data(contents),
        {of_case["s"]: of_case for file in files for of_case in file["series"]},
    )


def sign(ratio: float, interval: tuple[float, float]) -> int:
    """Return 1 or -1 where two versions differ, by the rule; else 0."""
    if abs(log(ratio)) < EFFECT or interval[0] <= 1 <= interval[1]:
        return 0
    return 1 if ratio > 1 else -1


WORDS = {1: "worse", 0: "same", -1: "better"}
SIGNS = {word: sign for sign, word in WORDS.items()}


def check_pair(
    fit: auditor.Fit, nodes: tuple[Any, Any], shown: Sequence[float], case: str
) -> None:
    """Check ratio, both ends of the interval, and what it is coloured by."""
    ratio, interval = fit.ratio(*nodes)
    assert shown[0] == pytest.approx(ratio, rel=1e-4), case
    assert shown[1:3] == pytest.approx(interval, rel=2e-4), case
    if all(abs(log(end)) > 1e-4 for end in interval) and abs(abs(log(ratio)) - EFFECT) > 1e-4:
        assert shown[3] == sign(ratio, interval), case


def test_numbers_of_compared_releases_are_what_the_files_say(
    page: Page, audits: dict[str, auditor.Audit]
) -> None:
    checked = 0
    for history, of_cases in zip(page.releases, page.release_pairs, strict=True):
        if history["package"] != "torch":
            continue
        audit = audits[history["machine"]]
        noisy = {line.case for line in audit.lines}
        for case, pairs in of_cases.items():
            for first, last, *shown in pairs:
                if case not in noisy:  # exact values: the interval has no width
                    assert shown[0] == shown[1] == shown[2]
                    continue
                fit = audit.fit("releases", case)
                nodes = history["versions"][first], history["versions"][last]
                check_pair(fit, nodes, shown, case)
                checked += 1
        newest = history["versions"][-1]
        for case in history["cases"]:
            for release, *shown in case["times"][:-1] if case["key"] in noisy else ():
                fit = audit.fit("releases", case["key"])
                ratio, interval = fit.ratio(newest, history["versions"][release])
                assert shown == pytest.approx([ratio, *interval], rel=2e-4), case["key"]
    assert checked > 2000


def test_steps_of_releases_and_the_headline_are_what_the_files_say(
    page: Page, audits: dict[str, auditor.Audit]
) -> None:
    checked = 0
    histories = [history for history in page.releases if history["package"] == "torch"]
    newest = max((history["versions"][-1] for history in histories), key=release_order)
    counts, machines = Counter[tuple[str, str]](), set()
    for history in histories:
        for step in history["steps"]:
            nodes = step["before"], step["after"]
            for shown in step["ratios"]:
                entry = history["cases"][shown["case"]]
                case = entry["key"] or entry["title"]  # the cost of an import has no page
                fit = audits[history["machine"]].fit("releases", case)
                numbers = shown["ratio"], *shown["interval"], SIGNS[shown["verdict"]]
                check_pair(fit, nodes, numbers, case)
                checked += 1
                if step["after"] == newest and page.is_main(case):
                    counts[shown["metric"], shown["verdict"]] += 1
                    machines.add(history["machine"])
    assert checked > 1000
    wanted = []
    for metric in KINDS:
        total = sum(count for (of, _), count in counts.items() if of == metric)
        worse_and_better = [n for word in ("worse", "better") if (n := counts[metric, word])]
        wanted += [*worse_and_better[:1], total, *worse_and_better[1:]] if total else []
    sentence = page.index["overview"]["title"].removeprefix(f"torch {newest}")
    assert list(map(int, re.findall(r"\d+", sentence))) == [*wanted, len(machines)]


def percent(text: str) -> float:
    """Read a change as a cell has it: ``−9``, ``+12.3 %`` or ``2.1×``; return the ratio."""
    number = re.search(r"[\d.]+", text)
    assert number, text
    value = float(number[0])
    if "×" in text or "times" in text:
        return value
    return 1 - value / 100 if "−" in text else 1 + value / 100


def test_cells_of_the_heat_map_are_what_the_files_say(
    page: Page, audits: dict[str, auditor.Audit]
) -> None:
    versions = {of["machine"]: of["versions"] for of in page.releases if of["package"] == "torch"}
    filled = 0
    for group in page.grid["groups"]:
        for row in group["rows"]:
            case = parse_qs(row["href"].partition("?")[2])["s"][0]
            fit = audits[row["machine"]].fit("releases", case)
            releases = versions[row["machine"]]
            for column, cell in zip(group["columns"], row["cells"], strict=True):
                if cell is None:
                    continue
                before = releases[releases.index(column["name"]) - 1]
                ratio, interval = fit.ratio(before, column["name"])
                assert cell["verdict"] == WORDS[sign(ratio, interval)]
                if cell["text"]:
                    assert percent(cell["text"]) == pytest.approx(ratio, abs=0.0051)
                    filled += 1
    assert filled > 20


def test_contradictions_are_what_the_files_say_and_at_most_2_percent(
    page: Page, audits: dict[str, auditor.Audit]
) -> None:
    """Each 99 % interval against all other paths, by the covariance matrix of its case."""
    for of_machine in page.about["machines"]:
        machine, shown = of_machine["name"], of_machine["contradictions"]
        if machine not in audits:
            continue
        checks: dict[tuple[str, str], list[bool]] = defaultdict(list)
        for kind, case in audits[machine].between:
            fit = audits[machine].fit(kind, case)
            metric = "import" if case.startswith("import ") else fit.stars[0].line.metric
            checks[kind, metric] += fit.contradictions()
        of_commits = [
            contradicted
            for (kind, _), found in checks.items()
            if kind == "versions"
            for contradicted in found
        ]
        assert (shown["checked"], shown["count"]) == (len(of_commits), sum(of_commits))
        if machine in WITH_A_LONG_HISTORY:
            assert sum(map(len, checks.values())) > 800
            for (kind, metric), found in checks.items():
                assert metric == "import" or sum(found) <= 0.02 * len(found), (kind, metric)


def test_changes_are_what_the_files_say_and_move_the_lines_of_the_timeline(
    page: Page, audits: dict[str, auditor.Audit]
) -> None:
    ratios: dict[int, list[tuple[int, float]]] = defaultdict(list)
    for change in page.index["changes"]:
        if change["state"] != "measured":
            continue
        series = change["s"]
        ratios[series].append((change["c"], change["ratio"]))
        if page.machine(series) in audits:
            fit = audits[page.machine(series)].fit("versions", page.case(series))
            ends = (page.commit(change[end]) for end in "pc")
            before, after = ((commit, page.release(series)) for commit in ends)
            ratio, interval = fit.ratio(before, after)
            shown = [change["ratio"], *change["interval"]]
            assert shown == pytest.approx([ratio, *interval], rel=2e-4), page.case(series)
            assert sign(ratio, interval) != 0
    moved = 0
    for series, history in page.histories.items():
        levels = [level for _, level, _ in history.get("stretches", ())]
        moves = [new / old for old, new in pairwise(levels) if new != old]
        expected = [ratio for _, ratio in sorted(ratios[series])]
        if levels:
            assert moves == pytest.approx(expected, rel=2e-4), page.case(series)
            assert levels[-1] == 1
            moved += len(moves)
    assert moved > 30


def stored_values(folder: Path) -> dict[tuple[str, str], set[float]]:
    """Read (commit, case) to the values of all environments, without private memory."""
    values: dict[tuple[str, str], set[float]] = defaultdict(set)
    for path in folder.glob("*-*.json"):
        content = json.loads(path.read_text())
        columns = content["result_columns"]
        for name, row in content["results"].items():
            cells = dict(zip(columns, row, strict=False))
            results = cells["result"] or []
            for params, result in zip(product(*cells["params"]), results, strict=True):
                case = f"{name}({', '.join(params)})" if params else name
                if result is not None and not isnan(result):
                    values[content["commit_hash"], case].add(result)
    return values


def test_newest_values_are_what_the_files_say(page: Page) -> None:
    raw = {
        machine: stored_values(ROOT / "results" / machine)
        for machine in (*auditor.MACHINES, "h200")
    }
    for series, shown in enumerate(page.index["series"]):
        case, machine = page.case(series), page.machine(series)
        if shown["last"] is None or machine not in raw:
            continue
        found = raw[machine][page.commit(shown["last"]["c"]), case]
        if found and not re.search(r"peakmem_\w+\(", case):  # a comparison may have measured it
            assert any(shown["last"]["v"] == pytest.approx(value, rel=1e-4) for value in found)


def test_a_version_against_itself_is_seldom_called_a_change(
    stored_history: History, stored_findings: Findings
) -> None:
    """With any recipe: the site shows those of the newest one alone."""
    claims = total = 0
    for machine, comparisons in stored_history.comparisons.items():
        for comparison in comparisons:
            if comparison.sitting.kind != "null" or comparison.metric != "time":
                continue
            ratio = stored_findings.graphs[machine].alone(comparison, 0, 1)
            if ratio is not None:
                low, high = ratio.interval
                claims += not low <= 1 <= high and abs(log(ratio.ratio)) >= log(1.015)
                total += 1
    assert total > 400
    assert claims <= total / 300


def test_no_line_of_the_record_was_lost_or_changed(stored_history: History) -> None:
    """As git does where it keeps the lines of both sides, and one had rewritten some."""
    assert stored_history.problems == ()


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
