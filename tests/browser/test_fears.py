"""What people fear is on the first screen: each is planted, and the first lines are read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

import pytest

from asv_watch.judge.findings import analyse
from asv_watch.records.comparisons import CaseRatio, Header, StoredComparison, Version
from asv_watch.records.explanations import (
    Explanation,
    OperatorDifference,
    StoredExplanation,
)
from asv_watch.records.history import History
from asv_watch.records.labels import case_labels
from asv_watch.records.records import (
    Benchmark,
    Case,
    Commit,
    Environment,
    Machine,
    Outcome,
    Point,
    Run,
)
from asv_watch.records.run_columns import RunColumns
from asv_watch.records.series import Series
from asv_watch.site.build import build_site
from asv_watch.site.contents import contents_of, in_order
from tests.browser.visitor import Visitor, plain, timeline

MODELS = {"darnn": 5.6e-3, "dsanet": 19.5e-3, "lstnet": 45.8e-3, "tpa_lstm": 61.8e-3}
COMMITS = 24
MACHINE = "ci-2core"
SLOWED = "'tpa_lstm'"

Value = Callable[[int, str, str], float]
"""Factor of the usual time at a commit's place, for a model and a release of torch."""


@dataclass
class Planted:
    """A history in which one thing happened."""

    factor: Value = lambda place, model, torch: 1.0
    torches: tuple[str, ...] = ("2.15.0",)
    recipe: Callable[[int], str] = lambda place: "rounds=3"
    failed: str = ""
    """Model whose newest run fails."""
    comparison: float | None = None
    """Ratio that an interleaved comparison of the last two commits found."""
    explained: bool = False
    """Whether `asv-watch explain` examined the last two commits."""
    lines: tuple[str, ...] = field(default=())


def commits() -> tuple[Commit, ...]:
    return tuple(
        Commit(f"{place:02x}" * 20, 1_780_000_000 + place * 86_400, f"Change {place}", (), place)
        for place in range(COMMITS)
    )


def run_of(planted: Planted, place: int, model: str, torch: str, value: float) -> Run:
    if planted.failed == model and place == COMMITS - 1:
        return Run(Outcome.FAILED, None, "Traceback\nRuntimeError: planted\n\nFor parameters: 'b'")
    value *= planted.factor(place, model, torch)
    point = Point(value, (value * 0.995, value * 1.005))
    return Run(Outcome.OK, point, at=1_780_000_000 + place * 86_400, recipe=planted.recipe(place))


def history_of(planted: Planted) -> History:
    """Four models, forward, on one machine, with a noise of 1 % between runs."""
    random = Random(5)  # noqa: S311
    name = "time_series.TimeSeries.time_forward"
    params = (tuple(map(repr, MODELS)), ("'cpu'",))
    benchmark = Benchmark(name, "time", "seconds", ("model", "device"), params)
    environments = {
        f"virtualenv-py3.11-torch{torch}": Environment(
            f"virtualenv-py3.11-torch{torch}", "3.11", {"torch": torch, "torchvision": "0.29"}
        )
        for torch in planted.torches
    }
    series = []
    for environment, described in environments.items():
        for model, seconds in MODELS.items():
            case = Case(
                name, (repr(model), "'cpu'"), case_labels(benchmark, (repr(model), "'cpu'"))
            )
            runs = {
                commit.hash: run_of(
                    planted, place, model, described.torch, seconds * random.gauss(1, 0.01)
                )
                for place, commit in enumerate(commits())
            }
            series.append(
                Series(MACHINE, environment, case, "seconds", False, RunColumns.of(runs))
            )
    history = History(
        commits(),
        {MACHINE: Machine(MACHINE, {"cpu": "Some CPU"})},
        environments,
        {name: benchmark},
        tuple(series),
        positions={commit.hash: commit.position for commit in commits()},
    )
    if planted.comparison is not None:
        history = replace(history, comparisons={MACHINE: (compared(planted.comparison),)})
    if planted.explained:
        history = replace(history, explanations={MACHINE: (explained(),)})
    return in_order(history)


def compared(ratio: float) -> StoredComparison:
    """An interleaved comparison of the last two commits."""
    before, after = (
        Version(commit.hash, {"torch": "2.15.0"}, "3.11") for commit in commits()[-2:]
    )
    at = commits()[-1].date + 3600
    header = Header(kind="confirm", at=at, machine=MACHINE, before=before, after=after)
    case = CaseRatio(
        f"time_series.TimeSeries.time_forward({SLOWED}, 'cpu')",
        at,
        (ratio, ratio, ratio),
        ratio,
        (ratio * 0.99, ratio * 1.01),
        0.06,
        0.06 * ratio,
    )
    return StoredComparison(Path("planted.jsonl"), header, (case,), ())


def explained() -> StoredExplanation:
    """An LSTM that takes twice as long in the newest commit."""
    before, after = (
        Version(commit.hash, {"torch": "2.15.0"}, "3.11") for commit in commits()[-2:]
    )
    operator = OperatorDifference("aten::lstm", "[[300, 10]]", (1, 1), (0.06, 0.12), True)
    return StoredExplanation(
        case=f"time_series.TimeSeries.time_forward({SLOWED}, 'cpu')",
        at=commits()[-1].date,
        before=before,
        after=after,
        explanation=Explanation(seconds=(0.06, 0.12), operators=(operator,)),
    )


def slowed(newest: int, factor: float) -> Value:
    """The time of one model, multiplied in the newest commits."""
    return lambda place, model, _: (
        factor if model == "tpa_lstm" and place >= COMMITS - newest else 1.0
    )


def address_of_site(folder: Path, history: History) -> str:
    project = {"name": "torchspeed", "url": "", "commit_url": "", "site": ""}
    contents = contents_of(history, analyse(history))
    build_site(folder / "html", contents, generated=1_790_000_000, project=project)
    return (folder / "html" / "index.html").as_uri()


FEARS = {
    "doubled in the newest commit": Planted(
        slowed(1, 2.0), lines=("1 slower, unconfirmed", "tpa_lstm cpu forward")
    ),
    "doubled in the last two": Planted(
        slowed(2, 2.0), lines=("1 slower, unconfirmed", "tpa_lstm cpu forward")
    ),
    "tripled in the newest commit": Planted(
        slowed(1, 3.0), lines=("1 slower, unconfirmed", "(unconfirmed: 1 run")
    ),
    "fallen by 43 % in the newest commit": Planted(
        slowed(1, 0.57), lines=("Nothing slower, 1 faster, unconfirmed", "tpa_lstm cpu forward -4")
    ),
    "tripled for good": Planted(slowed(10, 3.0), lines=("1 slower", "(confirmed: 10 runs")),
    "confirmed by a comparison": Planted(
        slowed(1, 2.0), comparison=2.0, lines=("1 slower", "(confirmed")
    ),
    "explained by an operator": Planted(
        slowed(1, 2.0),
        comparison=2.0,
        explained=True,
        lines=("1 slower", "aten::lstm accounts for 100 % of the difference"),
    ),
    "refuted by a comparison": Planted(
        slowed(1, 1.2), comparison=1.0, lines=("No change of a time",)
    ),
    "a changed recipe": Planted(
        slowed(1, 2.0),
        recipe=lambda place: "rounds=3" if place < COMMITS - 1 else "rounds=5",
        lines=("No change of a time",),
    ),
    "a failed case": Planted(failed="lstnet", lines=("1 of 4 cases", "RuntimeError: planted")),
    "a release that is slower": Planted(
        lambda place, model, torch: 1.5 if torch == "2.15.0" and model == "dsanet" else 1.0,
        torches=("2.14.1", "2.15.0"),
        lines=("1 slower, 0 faster", "dsanet"),
    ),
    "nothing": Planted(lines=("No change of a time",)),
}


@pytest.mark.parametrize("fear", FEARS)
def test_the_first_screen_says_what_was_planted(
    fear: str, tmp_path: Path, visit: Callable[..., Visitor]
) -> None:
    planted = FEARS[fear]
    history = history_of(planted)
    page = visit(address_of_site(tmp_path, history)).go()
    cards = page.locator("#answers .card")
    texts = [plain(text) for text in cards.all_inner_texts()]
    [card] = [text for text in texts if planted.lines[0] in text]
    for line in planted.lines:
        assert line in card
    box = cards.nth(texts.index(card)).bounding_box()
    assert box is not None
    assert box["y"] < 600, "on the first screen"
    cell = page.locator('#overview-matrix a[href*="tpa_lstm"] .change').first
    shown = plain(cell.inner_text())
    if "unconfirmed" in planted.lines[0]:
        assert "unconfirmed" in shown
    elif planted.lines[0] == "1 slower":
        assert shown.startswith("✗")
        assert "unconfirmed" not in shown
    else:
        assert "✗" not in shown


@pytest.mark.parametrize(
    ("newest", "series", "first"), [(23, 12, "desk"), (21, 12, MACHINE), (23, 1, MACHINE)]
)
def test_the_site_opens_on_the_machine_with_the_newest_commit_if_it_measured_enough(
    newest: int, series: int, first: str
) -> None:
    history = history_of(Planted(slowed(8, 2.0), torches=("2.13.1", "2.14.1", "2.15.0")))
    places = {commit.hash: place for place, commit in enumerate(commits())}
    both = tuple(
        replace(
            one,
            machine=machine,
            columns=RunColumns.of({c: run for c, run in one.runs.items() if places[c] <= until}),
        )
        for machine, until, count in ((MACHINE, 22, 12), ("desk", newest, series))
        for one in history.series[:count]
    )
    machines = {name: Machine(name, {}) for name in (MACHINE, "desk")}
    history = in_order(replace(history, series=both, machines=machines))
    assert contents_of(history, analyse(history)).setups[0].machine.name == first


def test_revisions_open_on_the_newest_commit_that_can_be_compared(
    tmp_path: Path, visit: Callable[..., Visitor]
) -> None:
    newest = COMMITS - 1
    recipe = {True: "rounds=3", False: "rounds=5"}
    history = history_of(Planted(slowed(8, 2.0), recipe=lambda place: recipe[place < newest]))
    visitor = visit(address_of_site(tmp_path, history))
    hashes = [commit.hash[:8] for commit in commits()]
    visitor.go("#/changes")
    assert hashes[newest - 1] in visitor.text(".commit-bar")
    notices = visitor.text("#changes-app .notice")
    assert f"Most values of the newest commit, {hashes[newest]}, were measured with" in notices
    visitor.page.get_by_text("newer →").click()
    visitor.settled()
    assert hashes[newest] in visitor.text(".commit-bar")
    assert "4 results were measured with another recipe" in visitor.text("#sensitivity")
    assert "No case can be compared: " in visitor.text("#changes-app .out > .notice")


def test_nothing_is_compared_across_a_change_of_recipe(
    tmp_path: Path, visit: Callable[..., Visitor]
) -> None:
    recipe = {0: "rounds=3", 1: "rounds=5", 2: "rounds=7"}
    history = history_of(Planted(slowed(8, 2.0), recipe=lambda place: recipe[place // 8]))
    visitor = visit(address_of_site(tmp_path, history))
    hashes = [commit.hash[:8] for commit in commits()]
    for newer, older, comparable in (
        (23, 15, False),
        (15, 7, False),
        (15, 8, True),
        (23, 0, False),
    ):
        page = visitor.go(f"#/changes?rev={hashes[newer]}&base={hashes[older]}")
        changes = page.locator("#changes-app .unit tbody td.number").first
        shown = plain(changes.inner_text())
        assert shown.endswith("%") if comparable else shown == "not comparable", (newer, older)
    visitor.go(f"#/changes?rev={hashes[16]}")
    trend = visitor.page.locator("#changes-app .unit tbody tr").first.locator("td.number")
    assert plain(trend.last.inner_text()) == "–", "one run has this recipe: there is no trend"
    case = f"time_series.TimeSeries.time_forward({SLOWED}, 'cpu')"
    visitor.go(timeline(case, y="relative", n="all"))
    line = visitor.page.locator("[role=application] g[data-line] path.line")
    drawn = line.get_attribute("d")
    assert drawn is not None
    assert drawn.count("M") == 3, "a line for each recipe"
    assert "starts anew" in visitor.text("#timeline-app .large > .note")
    shown = plain(visitor.page.locator(".readout tbody td.number").nth(2).inner_text())
    assert abs(float(shown.strip("+%"))) < 10, "relative to the first level with its recipe"
    page = visitor.go("#/timeline?n=all")
    for small in page.locator(".multiples path.line").all():
        drawn = small.get_attribute("d")
        assert drawn is not None
        assert drawn.count("M") == 3
