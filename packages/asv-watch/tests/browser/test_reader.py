"""Questions of a reader: the answer is in the visible text, or one click away."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlencode

import pytest

from tests.browser.visitor import SECTION, VIEWS, Site, Visitor, address_of, plain, timeline
from tests.conftest import git
from tests.generator import TIME_AND_MEMORY, Plan, Suite
from tests.planted_comparisons import (
    compared_cases,
    compared_releases,
    explained_releases,
    store,
    write_explanations,
)
from tests.site.conftest import Project

DARNN = "time_series.TimeSeries.time_forward('darnn', 'cpu')"
DARNN_MEMORY = DARNN.replace(".time_", ".peakmem_")
LEAD = f"{SECTION} .lead"
RELEASED = {DARNN: 1.3, DARNN.replace("forward", "backward"): 1.0}


@pytest.fixture(scope="session")
def released(publish: Callable[..., Site]) -> Site:
    """Two torch releases, then two versions of the project: the newer ones are slower."""

    def with_releases(project: Project) -> None:
        tags = git(project.root / "repository", "rev-parse", "v0.0.0", "v0.1.0").split()
        compared = (
            *compared_releases("2.14.1", "2.15.0", RELEASED),
            *compared_releases("2.14.1", "2.15.0", {DARNN_MEMORY: 2.0}, unit="bytes"),
            *compared_releases(
                "2.15.0", "2.15.0", {DARNN: 1.2}, kind="compare", commits=(tags[0], tags[1])
            ),
        )
        explained = explained_releases("2.14.1", "2.15.0", DARNN, "aten::mm", (1.0, 1.3))
        write_explanations(project.results / "ci-2core", [explained])
        project.build({"ci-2core": compared})

    plan = Plan(commits=6, steps=0, machines=("ci-2core",), machines_with_cuda=(), tag_every=3)
    return publish("released", plan, with_releases)


def first_screen(visitor: Visitor) -> str:
    """The text that lies within the window."""
    return plain(
        str(
            visitor.page.evaluate(
                """() => [...document.querySelectorAll('main h1, main h2, main p, main text')]
                  .filter(node => node.checkVisibility()
                    && node.getBoundingClientRect().bottom < innerHeight)
                  .map(node => node.textContent).join(' ')"""
            )
        )
    )


QUESTIONS = {
    "What did the newest release change?": (
        "#/", "h1", "torch 2.15.0 made 1 of 2 cases slower, and raised the memory of 1 of 1 case",
    ),
    "Which model became slower and stayed so, by how much, on which machine?": (
        "#/", ".lasting", "darnn .* takes 30 % longer than with torch 2.14.1 on ci-2core",
    ),
    "Why?": ("#/", ".details", r"\+30.0 % by torch 2.15.0 \(aten::mm\)"),
    "What did the newest commits change?": ("#/", ".details", "newest 5 measured commits made"),
    "How much slower is it than with the oldest release?": (
        "#/", ".grid .total .change", r"\+30.0 %",
    ),
    "How fast is each model?": ("#/", ".matrix", r"darnn.*\d ms"),
    "What do all cases say together?": (
        "#/compare", f"{SECTION} .note", r"1 worse: \+30.0 % all 2: mean \+14.0 %, median \+14",
    ),
    "Where was it measured?": ("#/compare", LEAD, "on ci-2core: 2 cases"),
    "Which changes rest on one day?": (
        "#/changes", "#changes-app .commit-group", "shown on one day",
    ),
    "Which commit may have made it, and was it found?": (
        "#/changes", ".commit-group h2", "One of 2 commits up to [0-9a-f]{8}, not bisected",
    ),
    "What did each release change, grouped by cause?": (
        "#/releases", "#findings",
        r"2.15.0 against 2.14.1.*aten::mm.*darnn · cpu · forward.*\+30.0 % .*shown on one day.*"
        "memory darnn · cpu · forward · peak memory",
    ),
    "Did it need more memory?": ("#/releases", SECTION, "memory: ✗ worse 1 worse"),
    "What was skipped, and why?": (
        "#/about", "#about-app", r"skipped \d+ cases: no GPU on this machine",
    ),
    "How small a change can be seen?": ("#/about", SECTION, "Smallest detectable change"),
    "How long ago was this value measured?": (
        f"#/case?{urlencode({'s': DARNN})}", ".facts", r"\d ms at [0-9a-f]{8} · 20\d\d-\d\d-\d\d",
    ),
    "Is a transformer's training slower than with an older torch?": (
        f"#/case?{urlencode({'s': DARNN})}", "table.cards", r"2.15.0 against 2.14.1.*\+30.0 %",
    ),
    "What is it that was measured?": (
        f"#/case?{urlencode({'s': DARNN.replace('forward', 'backward')})}", LEAD,
        "The training pass of DA-RNN with attention.",
    ),
    "How do I measure it again?": (
        f"#/case?{urlencode({'s': DARNN})}", "pre", "asv-watch bench --cases",
    ),
}  # fmt: skip
"""Maps a question to an address that the first screen links to, the part of the page that answers
it, and the answer."""


def test_questions_have_their_answer_on_the_first_screen_or_one_click_away(
    released: Site, visit: Callable[..., Visitor]
) -> None:
    visitor = visit(released.url)
    page = visitor.go()
    wrong = {}
    for question, (address, part, answer) in QUESTIONS.items():
        visitor.turn_to(address)
        page.evaluate("document.querySelectorAll('details').forEach(f => { f.open = true; })")
        text = " ".join(map(plain, page.locator(f"{part}:visible").all_inner_texts()))
        if not re.search(answer, text):
            wrong[question] = text[:300]
    assert not wrong, wrong


def test_what_changed_lately(site: Site, visitor: Visitor) -> None:
    visitor.go()
    text = first_screen(visitor)
    assert re.search(r"takes .* than at [0-9a-f]{8} on [\w-]+\.", visitor.text(".lasting"))
    assert plain(site.index["overview"]["headline"]) in text
    assert "What commits changed" in text
    newest = visitor.page.locator(".grid a.tile:visible").last
    newest.click()
    visitor.settled()
    assert visitor.address.startswith("#/changes?rev=")


def test_the_heat_map_says_what_each_release_changed(
    released: Site, visit: Callable[..., Visitor]
) -> None:
    visitor = visit(released.url)
    visitor.go()
    assert visitor.rows(".grid") == [
        ["darnn forward", "+30", "2.14.1 +30.0 %", "ci-2core"],
        ["backward", "", "2.14.1 ±0.0 %", ""],
    ]
    visitor.page.locator(".grid a.tile").click()
    visitor.settled()
    assert "+30.0 %" in visitor.text(SECTION)


def test_compare_opens_at_the_largest_lasting_difference(
    released: Site, visit: Callable[..., Visitor]
) -> None:
    visitor = visit(released.url)
    visitor.go("#/compare")
    assert visitor.address == visitor.page.locator(".lasting a").first.get_attribute("href")
    assert len(visitor.rows(f"{SECTION} table.list")) == 2
    visitor.choose("show", "differences")
    [row] = visitor.rows(f"{SECTION} table.list")
    assert "+30.0 %" in row[3]
    assert row[2] == newest_value(released, DARNN), "the value of the case's newest run"


def newest_value(site: Site, key: str) -> str:
    """The value that the page of a case has, of the newest torch."""
    index = site.index
    release = max(range(len(index["environments"])))
    [value] = [
        series["last"]["text"]
        for series in index["series"]
        if index["cases"][series["c"]]["key"] == key and series["e"] == release
    ]
    return plain(value)


def test_what_releases_changed_stands_on_the_page_of_a_case(
    released: Site, visit: Callable[..., Visitor]
) -> None:
    visitor = visit(released.url)
    visitor.go(f"#/case?{urlencode({'s': DARNN})}")
    rows = visitor.rows(f"{SECTION} table:has(caption:text('Changes by releases'))")
    assert [row[0] for row in rows] == ["torch 2.15.0 against 2.14.1", "v0.1.0 against v0.0.0"]
    visitor.turn_to(f"#/case?{urlencode({'s': DARNN.replace('forward', 'backward')})}")
    assert "Changes by releases" not in visitor.text(SECTION)


def test_what_each_version_of_the_project_changed(
    released: Site, visit: Callable[..., Visitor]
) -> None:
    visitor = visit(released.url)
    visitor.go("#/releases")
    visitor.page.get_by_role("link", name="ci-2core · torchspeed").click()
    visitor.settled()
    [row] = visitor.rows("#findings table")
    assert row[0] == "darnn · cpu · forward"
    assert row[1].startswith("✗ worse +20.0 %")


def test_how_fast_a_model_is_and_how_it_got_there(site: Site, visitor: Visitor) -> None:
    page = visitor.go()
    cell = page.locator(".matrix a.cell").first
    value = plain(cell.locator(".value").inner_text())
    cell.click()
    visitor.settled()
    assert value in visitor.text(f"{SECTION} .facts")
    assert page.locator("[role=application] path.line").count() == 1


def test_which_commit_changed_a_case(site: Site, visitor: Visitor) -> None:
    page = visitor.go("#/changes")
    measured = [change for change in site.index["changes"] if change["state"] == "measured"]
    assert visitor.text(".lead").startswith(f"{len(measured)} measured change")
    newest = measured[0]
    span = site.index["ranges"][newest["range"]]
    heads = page.locator(".commit-group h2")
    last = site.index["commits"][newest["c"]]
    title = (
        last[2] if span["culprit"] else f"One of {span['suspects']} commits up to {last[0][:8]}"
    )
    assert title in plain(heads.first.inner_text())
    assert ("not bisected" in plain(heads.first.inner_text())) == (span["suspects"] > 1)
    rows = [" ".join(row) for row in visitor.rows(".commit-group table")]
    assert any(plain(f"{newest['text']} {newest['interval_text']}") in row for row in rows)
    heads.first.locator("a").click()
    visitor.settled()
    assert last[2] in visitor.text(SECTION)
    assert "git log --oneline" in str(page.locator("details pre").first.text_content())


def test_changes_can_be_filtered(site: Site, visitor: Visitor) -> None:
    page = visitor.go("#/changes")
    visitor.choose("direction", "better")
    assert "direction=better" in visitor.address
    assert page.locator("#changes-app .change.worse").count() == 0
    assert page.locator("#changes-app .change.better").count() > 0


def test_the_timeline_is_never_blank(
    launch: Site, site: Site, visit: Callable[..., Visitor]
) -> None:
    visitor = visit(site.url)
    page = visitor.go("#/timeline")
    assert page.locator(".multiples svg path.line").count() >= 4
    first_day = visit(launch.url)
    first_day.go("#/timeline")
    assert "Measured once so far" in first_day.text(SECTION)


def test_values_are_read_at_the_cursor(visitor: Visitor) -> None:
    page = visitor.go(timeline(DARNN))
    page.locator("[role=application]").focus()
    page.keyboard.press("End")
    lines = visitor.text(".tip")
    assert re.search(r"darnn · cpu · forward: [\d.]+ ms", lines), lines
    page.keyboard.press("Enter")
    visitor.settled()
    assert visitor.address.startswith("#/changes?")


def test_chosen_cases_of_one_column_have_hues_of_their_own(visitor: Visitor) -> None:
    page = visitor.go(timeline(DARNN, DARNN.replace("darnn", "lstnet")))
    lines = page.locator("[role=application] g.series").all()
    assert [line.get_attribute("class") for line in lines] == ["hue-0 series", "hue-1 series"]


def test_the_history_of_a_case_is_that_of_the_timeline(site: Site, visitor: Visitor) -> None:
    change = next(c for c in site.index["changes"] if c["state"] == "measured")
    series = site.index["series"][change["s"]]
    where = {
        "s": site.index["cases"][series["c"]]["key"],
        "m": site.index["machines"][series["m"]]["name"],
        "e": site.index["environments"][series["e"]]["id"],
    }
    drawn = []
    for view in ("case", "timeline"):
        page = visitor.go(f"#/{view}?{urlencode(where)}")
        paths = page.locator("section:not([hidden]) .chart-frame .series path")
        drawn.append(
            [(path.get_attribute("class"), path.get_attribute("d") or "") for path in paths.all()]
        )
        assert "Lines move where a change was measured; dots are runs." in visitor.text(SECTION)
    assert drawn[0] == drawn[1]
    lines = [d for name, d in drawn[0] if name == "line"]
    assert all(re.fullmatch(r"M[\d.]+ [\d.]+([HV][\d.]+)+", d) for d in lines), lines


def test_a_comparison_is_copied(site: Site, visitor: Visitor) -> None:
    page = visitor.go("#/compare")
    page.locator("header .button[popovertarget]").click()
    page.get_by_role("button", name="Copy as Markdown").click()
    page.wait_for_function("() => /copied/.test(document.getElementById('announcer').textContent)")
    lines = page.evaluate("navigator.clipboard.readText()").splitlines()
    assert "| Change | 99 % interval |" in lines[2]
    rows = page.locator(f"{SECTION} table.list tbody tr")
    assert rows.count() == rows.locator("svg.mark").count() == len(lines) - 4, "a bar in each row"


def test_an_empty_comparison_says_what_to_choose(site: Site, visitor: Visitor) -> None:
    empty = f"{SECTION} .notice"
    commit = site.index["commits"][3][0][:8]
    visitor.go("#/compare?q=nothing+is+called+this")
    assert "choose another suite, or clear the words" in visitor.text(empty)
    visitor.turn_to(f"#/compare?by=commit&a={commit}&b={commit}")
    assert f"Choose two different sides: both are {commit}" in visitor.text(empty)
    visitor.turn_to("#/compare?by=device&a=cpu&b=tpu")
    assert "No case has a time both for cpu and for tpu on" in visitor.text(empty)
    assert "Choose other sides, another machine" in visitor.text(empty)


def test_a_cpu_and_a_gpu_of_different_machines_are_compared(
    publish: Callable[..., Site], visit: Callable[..., Visitor]
) -> None:
    params = {"model": ("darnn", "lenet5"), "device": ("cpu", "cuda")}
    suite = Suite("plain.PlainModels", TIME_AND_MEMORY, params)
    gpu = ("gpu-lab",)
    visitor = visit(
        publish(
            "cpu-and-gpu",
            Plan(commits=4, suites=(suite,), machines_without_cpu=gpu, steps=0, never_run=0),
        ).url
    )
    visitor.go("#/overview?m=ci-2core&group=*")
    heads = visitor.page.locator(f"{SECTION} table.matrix thead th").all_inner_texts()
    assert any("cuda" in head and head.endswith("on gpu-lab") for head in heads), heads
    where = r"on ci-2core, torch 2.15.0 at [0-9a-f]{8} and gpu-lab, torch 2.15.0 at [0-9a-f]{8}:"
    for by, a, b in (("device", "cpu", "cuda"), ("machine", "ci-2core", "gpu-lab")):
        visitor.turn_to(f"#/compare?by={by}&a={a}&b={b}&group=*")
        assert re.search(f"{b} against {a} {where}", visitor.text(LEAD))
        rows = visitor.rows(f"{SECTION} table.list")
        assert {row[0].split(" · ")[0] for row in rows} == {"darnn", "lenet5"}


def test_what_was_measured_interleaved_is_coloured_and_the_rest_is_grey(
    publish: Callable[..., Site], visit: Callable[..., Visitor]
) -> None:
    plain, tuned = "plain.Plain.time_forward('{}', 'cpu')", "tuned.Tuned.time_forward('{}', 'cpu')"
    params = {"model": ("darnn", "lenet5", "lstnet"), "device": ("cpu",)}
    functions = (("time_forward", "time", "seconds"),)
    suites = (Suite("plain.Plain", functions, params), Suite("tuned.Tuned", functions, params))

    def with_comparisons(project: Project) -> None:
        for model, seconds in (("darnn", 0.005), ("lenet5", 0.01005)):
            cases = plain.format(model), tuned.format(model)
            store(project.results, compared_cases(cases, (0.01, seconds), machine="elsewhere"))
        settings = json.loads((project.root / "asv.conf.json").read_text())
        settings["layout"]["labels"] = {"version": {"plain": "plain", "": "tuned"}}
        (project.root / "asv.conf.json").write_text(json.dumps(settings))
        project.publish()

    plan = Plan(commits=2, suites=suites, machines=("ci-2core",), steps=0, never_run=0)
    visitor = visit(publish("gains", plan, with_comparisons).url)
    visitor.go("#/compare?by=version&a=plain&b=tuned&group=*")
    rows = {row[0].split(" · ")[0]: row for row in visitor.rows(f"{SECTION} table.list")}
    assert rows["darnn"][1:3] == ["10.7 ms", "5.33 ms"], "the values of its rounds"
    assert visitor.page.locator(f"{SECTION} .mark.better").count() == 1
    assert visitor.page.locator(f"{SECTION} .mark.worse").count() == 0, "0.5 % is below the rule"
    notes = " ".join(visitor.page.locator(f"{SECTION} .note").all_inner_texts())
    assert "all 2: mean" in notes
    assert "Hollow: newest values of separate runs, 1 case." in notes
    assert rows["darnn"][4] == "elsewhere, torch 2.15.0"
    assert re.fullmatch("ci-2core, torch 2.15.0 at [0-9a-f]{8}", rows["lstnet"][4])
    assert visitor.page.locator(f"{SECTION} .mark.hollow").count() == 1
    visitor.go("#/compare?by=version&a=tuned&b=plain&group=*")
    assert visitor.page.locator(f"{SECTION} .mark.worse").count() == 1, "the other way round"


def test_releases_are_compared_by_one_metric(
    released: Site, visit: Callable[..., Visitor]
) -> None:
    visitor = visit(released.url)
    visitor.go("#/releases?m=ci-2core")
    visitor.page.get_by_role("link", name="All 3 comparisons").click()
    visitor.settled()
    assert re.search(r"^Time, 2.15.0 against 2.14.1 .*: 2 cases", visitor.text(LEAD))
    visitor.choose("metric", "peak-memory-bytes")
    lead = visitor.text(LEAD)
    assert re.search(r"^Peak memory, .*: 1 case", lead), lead
    visitor.page.locator("section:not([hidden]) table.list a").first.click()
    visitor.settled()
    values = visitor.text(SECTION)
    assert "never run" not in values


def test_the_machine_and_the_metric_stay_when_the_view_changes(
    site: Site, visitor: Visitor
) -> None:
    page = visitor.go()
    visitor.choose("m", "ci-2core")
    visitor.choose("metric", "peak-memory-bytes")
    for name in ("Timeline", "Compare", "Overview"):
        page.get_by_role("link", name=name, exact=True).click()
        visitor.settled()
        assert visitor.field("m").input_value() == "ci-2core"
        assert visitor.field("metric").input_value() == "peak-memory-bytes"
    page.get_by_role("searchbox").first.fill("darnn forward")
    assert "m=ci-2core" in str(page.locator(".matches a").first.get_attribute("href"))


def test_a_link_shows_its_view_once_and_back_returns(site: Site, visitor: Visitor) -> None:
    page = visitor.go()
    page.evaluate(
        """() => {
          window.shownViews = [];
          const main = document.querySelector('main');
          new MutationObserver(() => {
            if (main.getAttribute('aria-busy') === 'false') window.shownViews.push(location.hash);
          }).observe(main, { attributeFilter: ['aria-busy'] });
        }"""
    )
    page.locator("header nav a", has_text="Changes").click()
    visitor.settled()
    page.go_back()
    visitor.settled()
    page.wait_for_timeout(200)  # a second build of the view would have ended
    shown = page.evaluate("window.shownViews.map(hash => hash.split('?')[0])")
    assert shown == ["#/changes", "#/"]


def test_search_finds_cases_by_all_their_names_and_versions(
    released: Site, visit: Callable[..., Visitor]
) -> None:
    visitor = visit(released.url)
    page = visitor.go()
    for words, found, address in (
        ("darnn forward", "darnn · cpu · forward time", "time_forward"),
        ("attention training", "darnn · cpu · backward time", "time_backward"),  # in words
        ("mm forward", "darnn · cpu · forward time", "time_forward"),  # an operator
        ("torch 2.15", "release torch 2.15.0", "#/compare?by=release&b=2.15.0"),
        ("v0.1.0", "[0-9a-f]{8} ", "#/changes?rev="),
    ):
        visitor.turn_to("#/")
        page.keyboard.press("/")
        page.get_by_role("searchbox").first.fill(words)
        first = plain(page.locator(".matches a:visible").first.inner_text())
        assert re.match(found, first), first
        assert ("ci-2core" in first) == ("time_" in address), "the machine stands beside the value"
        page.keyboard.press("Enter")
        visitor.settled()
        assert address in visitor.address
        assert not page.locator(".matches").is_visible()


@pytest.mark.parametrize("view", ["overview", "timeline", "compare", "changes"])
def test_what_is_seen_can_be_saved(site: Site, visitor: Visitor, view: str) -> None:
    page = visitor.go(address_of(view))

    def saved(item: str) -> bytes:
        page.locator("header .button[popovertarget]").click()
        with page.expect_download() as download:
            page.get_by_role("button", name=item).click()
        return Path(download.value.path()).read_bytes()

    table = saved("Table (CSV)").decode()
    assert len(table.splitlines()) > 2


def test_each_outcome_is_told_apart(
    publish: Callable[..., Site], visit: Callable[..., Visitor]
) -> None:
    plan = Plan(
        commits=4, steps=0, machines=("ci-2core", "workstation"), machines_with_cuda=(),
        unmeasured_commits=0, failures=0.1, timeouts=0.1, never_run=0.5,
    )  # fmt: skip
    site = publish("outcomes", plan)
    visitor = visit(site.url)
    page = visitor.go("#/about")
    groups = [plain(text) for text in page.locator("#about-app summary").all_inner_texts()]
    for outcome, reason in (
        ("✗ failed", "RuntimeError: the input has 3 features, the model 4"),
        ("⏱ timed out", "stopped after 600 s"),
        ("– skipped", "no GPU on this machine"),
        ("◷ behind", "1 commit behind the newest"),
    ):
        group = re.compile(rf"{outcome} \d+ cases?: {reason} · ")
        assert any(group.match(text) for text in groups), (outcome, groups)
    visitor.go()
    lead = visitor.page.locator(".note.newest")
    machine, count = re.findall(r"^(\S+) measured .* (\d+) failed\.$", lead.inner_text())[0]
    lead.get_by_role("link", name="failed").click()
    visitor.settled()
    page.evaluate("document.querySelectorAll('details').forEach(f => { f.open = true; })")
    newest = site.index["commits"][-1][0][:8]
    rows = page.locator("#about-app table.list tbody tr:has(.failed, .timed-out)")
    listed = list(map(plain, rows.all_inner_texts()))
    assert sum(newest in row for row in listed) == int(count)
    assert all(f"{machine} · torch 2.15.0" in row for row in listed)


def test_a_project_without_models_speaks_of_its_benchmarks(
    without_models: Site, visit: Callable[..., Visitor]
) -> None:
    visitor = visit(without_models.url)
    page = visitor.go()
    assert {"solve", "refine"} == {row[0] for row in visitor.rows(".matrix") if len(row) > 1}
    text = plain(page.locator("body").inner_text()).lower()
    for word in ("pytorch", "device", "pass ", "forward"):
        assert word not in text, word
    assert page.locator("header nav a", has_text="Releases").count() == 0


def test_nothing_measured_yet(unmeasured: Site, visit: Callable[..., Visitor]) -> None:
    visitor = visit(unmeasured.url)
    visitor.go()
    assert visitor.text("h1") == "Nothing is measured yet."
    assert "asv-watch bench" in visitor.text(SECTION)


def test_it_works_from_a_file(site: Site, visit: Callable[..., Visitor]) -> None:
    visitor = visit(site.file_url)
    visitor.go()
    for view in VIEWS:
        visitor.turn_to(address_of(view))
        assert visitor.page.locator("#trouble:not([hidden])").count() == 0, view
    visitor.requests.clear()


def test_nothing_is_wider_than_a_phone(site: Site, visit: Callable[..., Visitor]) -> None:
    visitor = visit(site.url, viewport={"width": 390, "height": 844}, has_touch=True)
    page = visitor.go()
    for view in (*map(address_of, VIEWS), timeline(DARNN), f"#/case?s={DARNN}"):
        visitor.turn_to(view)
        page.wait_for_timeout(100)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, view
    visitor.turn_to("#/")
    widths = page.locator(".matrix tr:not(.family) > th:first-child").evaluate_all(
        "names => names.map(name => name.getBoundingClientRect().width)"
    )
    assert all(width > 90 for width in widths), "names keep their words whole"
    tops = page.evaluate(
        "[...document.querySelectorAll('header nav a')].map(a => a.getBoundingClientRect().top)"
    )
    assert len(set(tops)) == 1, "the views are in one row"


def test_an_unknown_machine_or_commit_is_named(site: Site, visitor: Visitor) -> None:
    visitor.go("#/timeline?m=nowhere")
    assert "No machine is called “nowhere”" in visitor.text("#trouble")
    visitor.turn_to("#/compare?a=ffffffff&b=ffffffff")
    assert "No measured commit begins with “ffffffff”" in visitor.text("#trouble")
    visitor.turn_to("#/case?s=nothing")
    assert "No case is called “nothing”" in visitor.text(SECTION)
