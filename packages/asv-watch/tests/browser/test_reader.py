"""Questions of a reader: the answer is in the visible text, or one click away."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlencode

import pytest

from asv_watch.records.store import EXPLANATIONS, append_lines
from tests.browser.visitor import SECTION, VIEWS, Site, Visitor, plain, timeline
from tests.conftest import git
from tests.generator import TIME_AND_MEMORY, Plan, Suite, small_plan
from tests.planted_comparisons import (
    compared_cases,
    compared_commits,
    compared_releases,
    explained_releases,
    store,
)
from tests.site.conftest import Project

DARNN = "time_series.TimeSeries.time_forward('darnn', 'cpu')"
BACKWARD = DARNN.replace("forward", "backward")
MEMORY = DARNN.replace(".time_", ".peakmem_")
CASE = f"#/case?{urlencode({'s': DARNN})}"
LEAD = f"{SECTION} .lead"


@pytest.fixture(scope="session")
def released(publish: Callable[..., Site]) -> Site:
    """Two torch releases, then two versions of the project: the newer ones are slower."""

    def with_releases(project: Project) -> None:
        tags = git(project.root / "repository", "rev-parse", "v0.0.0", "v0.1.0").split()
        releases = "2.14.1", "2.15.0"
        memory = compared_releases(*releases, {MEMORY: 2.0}, unit="bytes")
        times = {DARNN: 1.3, BACKWARD: 1.0}
        store(project.results, compared_releases(*releases, times, values=tuple(memory)))
        sides = tags[0], tags[1]
        store(project.results, compared_commits(sides, {DARNN: 1.2}, kind="compare", half=0.02))
        explained = explained_releases(*releases, DARNN, "aten::mm", (1.0, 1.3))
        append_lines(project.results / "ci-2core" / EXPLANATIONS, [explained])
        project.build()

    plan = Plan(commits=6, steps=0, machines=("ci-2core",), machines_with_cuda=(), tag_every=3)
    return publish("released", plan, with_releases)


@pytest.fixture
def reader(released: Site, visit: Callable[..., Visitor]) -> Visitor:
    return visit(released)


QUESTIONS = {
    "What did the newest release change?": (
        "#/", "h1", "torch 2.15.0 made 1 of 2 cases slower, and raised the memory of 1 of 1 case",
    ),
    "Which model became slower and stayed so, by how much, on which machine?": (
        "#/", ".lasting", "darnn .* takes 30 % longer than with torch 2.14.1 on ci-2core",
    ),
    "Why?": ("#/", ".details", r"\+30.0 % by torch 2.15.0 \(aten::mm\)"),
    "What did the newest commits change?": ("#/", ".details", "newest 5 measured commits made"),
    "How much slower is it by each release, and than with the oldest?": (
        "#/", ".grid", r"darnn forward \+30 2.14.1 \+30.0 % ci-2core backward 2.14.1 ±0.0 %",
    ),
    "How fast is each model?": ("#/", ".matrix", r"darnn.*\d ms"),
    "What do all cases say together?": (
        "#/compare", f"{SECTION} .note", r"1 worse: \+30.0 % all 2: mean \+14.0 %, median \+14",
    ),
    "Where was it measured?": ("#/compare", LEAD, "on ci-2core: 2 cases"),
    "Which changes rest on one day?": ("#/changes", ".commit-group", "shown on one day"),
    "Which commit may have made it, and was it found?": (
        "#/changes", ".commit-group h2", "One of 2 commits up to [0-9a-f]{8}, not bisected",
    ),
    "What did each release change, grouped by cause?": (
        "#/releases", "#findings",
        r"2.15.0 against 2.14.1.*aten::mm.*darnn · cpu · forward.*\+30.0 % .*shown on one day.*"
        "memory darnn · cpu · forward · peak memory",
    ),
    "Did it need more memory?": ("#/releases", SECTION, "memory: ✗ worse 1 worse"),
    "How small a change can be seen?": ("#/about", SECTION, "Smallest detectable change"),
    "How old is this value?": (CASE, ".facts", r"\d ms at [0-9a-f]{8} · 20\d\d-\d\d-\d\d"),
    "Is a transformer's training slower than with an older torch?": (
        CASE, "table.cards",
        r"torch 2.15.0 against 2.14.1 .*\+30.0 %.* v0.1.0 against v0.0.0 ",
    ),
    "What is it that was measured?": (
        f"#/case?{urlencode({'s': BACKWARD})}", LEAD,
        "The training pass of DA-RNN with attention.",
    ),
    "What else was measured of the same work in the same place?": (
        CASE, "table:has(caption:text('Other measurements'))",
        r"^Other measurements peak memory \S+ MiB instructions \S+ \w+ throughput \S+ \S+$",
    ),
    "How do I measure it again?": (
        CASE, "pre",
        r"asv-watch bench --cases '\^time_series.TimeSeries.time_forward..darnn., .cpu..\$'",
    ),
}  # fmt: skip
"""Maps a question to an address that the first screen links to, the part of the page that answers
it, and the answer."""


def test_answers_are_on_the_first_screen_or_one_click_away(reader: Visitor) -> None:
    page = reader.go()
    wrong = {}
    for question, (address, part, answer) in QUESTIONS.items():
        reader.turn_to(address)
        reader.unfold()
        text = " ".join(map(plain, page.locator(f"{part}:visible").all_inner_texts()))
        if not re.search(answer, text):
            wrong[question] = text[:300]
    assert not wrong, wrong


def test_the_first_screen_leads_to_commits_and_cases(visitor: Visitor) -> None:
    page = visitor.go()
    assert re.search(r"takes .* than at [0-9a-f]{8} on [\w-]+\.", visitor.text(".lasting"))
    box = page.get_by_role("heading", name="What commits changed").bounding_box()
    assert box is not None
    assert box["y"] + box["height"] < page.evaluate("innerHeight")
    cell = page.locator(".matrix a.cell").first
    value = plain(cell.locator(".value").inner_text())
    visitor.follow(page.locator(".grid a.tile:visible").last)
    assert visitor.address.startswith("#/changes?rev=")
    page.go_back()
    visitor.settled()
    visitor.follow(cell)
    assert value in visitor.text(f"{SECTION} .facts")
    assert "Lines move where a change was measured; dots are runs." in visitor.text(SECTION)
    [line] = page.locator("[role=application] path.line").all()
    assert re.fullmatch(r"M[\d.]+ [\d.]+([HV][\d.]+)+", str(line.get_attribute("d")))


def test_compare_opens_at_the_largest_lasting_difference(reader: Visitor) -> None:
    page = reader.go()
    lasting = page.locator(".lasting a").first.get_attribute("href")
    reader.follow(page.locator(".grid a.tile"))
    assert "+30.0 %" in reader.text(SECTION)
    reader.turn_to("#/compare")
    assert reader.address == lasting
    assert len(reader.rows(f"{SECTION} table.list")) == 2
    reader.choose("show", "differences")
    [row] = reader.rows(f"{SECTION} table.list")
    assert "+30.0 %" in row[3]
    reader.turn_to(CASE)
    assert f"{row[2]} at " in reader.text(f"{SECTION} .facts"), "the value of its newest run"


def test_which_commit_changed_a_case(visitor: Visitor) -> None:
    page = visitor.go("#/changes")
    index = visitor.site.index
    measured = [change for change in index["changes"] if change["state"] == "measured"]
    assert visitor.text(".lead").startswith(f"{len(measured)} measured change")
    newest = plain(f"{measured[0]['text']} {measured[0]['interval_text']}")
    assert any(newest in " ".join(row) for row in visitor.rows(".commit-group table"))
    visitor.choose("direction", "better")
    assert "direction=better" in visitor.address
    assert page.locator("#changes-app .change.worse").count() == 0
    assert page.locator("#changes-app .change.better").count() > 0
    visitor.field("q").fill("nothing")
    page.wait_for_function("() => location.hash.includes('q=nothing')")
    page.go_back()
    visitor.settled()
    assert visitor.field("q").input_value() == "", "as the address says"
    visitor.turn_to("#/changes")
    visitor.follow(page.locator(".commit-group h2 a").first)
    assert index["commits"][measured[0]["c"]][2] in visitor.text(SECTION)
    assert "git log --oneline" in str(page.locator("details pre").first.text_content())


def test_the_timeline_is_never_blank(visitor: Visitor, show: Callable[..., Visitor]) -> None:
    page = visitor.go("#/timeline")
    assert page.locator(".multiples svg path.line").count() >= 4
    first_day = show("first-day", small_plan(1, steps=0))
    first_day.go("#/timeline")
    assert "Measured once so far" in first_day.text(SECTION)


def test_values_are_read_at_the_cursor(visitor: Visitor) -> None:
    page = visitor.go(timeline(DARNN, DARNN.replace("darnn", "lstnet")))
    lines = page.locator("[role=application] g.series").all()
    assert [line.get_attribute("class") for line in lines] == ["hue-0 series", "hue-1 series"]
    page.locator("[role=application]").focus()
    page.keyboard.press("End")
    tip = visitor.text(".tip")
    assert re.search(r"darnn: [\d.]+ ms, .*lstnet: [\d.]+ µs", tip), tip
    page.keyboard.press("Enter")
    visitor.settled()
    assert visitor.address.startswith("#/changes?")


def test_what_is_seen_can_be_saved_and_copied(visitor: Visitor) -> None:
    for view in ("#/", "#/timeline", "#/changes", "#/compare"):
        page = visitor.go(view)
        page.locator("header .button[popovertarget]").click()
        with page.expect_download() as download:
            page.get_by_role("button", name="Table (CSV)").click()
        assert len(Path(download.value.path()).read_text().splitlines()) > 2, view
    page.locator("header .button[popovertarget]").click()
    page.get_by_role("button", name="Copy as Markdown").click()
    page.wait_for_function("() => /copied/.test(document.getElementById('announcer').textContent)")
    lines = page.evaluate("navigator.clipboard.readText()").splitlines()
    assert "| Change | 99 % interval |" in lines[2]
    rows = page.locator(f"{SECTION} table.list tbody tr")
    assert rows.count() == rows.locator("svg.mark").count() == len(lines) - 4, "a bar in each row"


def test_what_cannot_be_shown_is_named_with_what_to_choose(visitor: Visitor) -> None:
    page = visitor.go()
    empty = f"{SECTION} .notice"
    commit = visitor.site.index["commits"][3][0][:8]
    for address, part, text in (
        ("#/compare?q=nothing", empty, "choose another suite, or clear the words"),
        (f"#/compare?by=commit&a={commit}&b={commit}", empty, f"sides: both are {commit}"),
        ("#/compare?by=device&a=cpu&b=tpu", empty, "for tpu on gpu-lab. Choose other sides"),
        ("#/timeline?m=nowhere", "#trouble", "No machine is called “nowhere”"),
        ("#/compare?a=ffffffff&b=f", "#trouble", "No measured commit begins with “ffffffff”"),
        ("#/case?s=nothing", SECTION, "No case is called “nothing”"),
    ):
        visitor.turn_to(address)
        assert text in visitor.text(part), address
    visitor.turn_to("#/changes?q=no+such+case")
    page.wait_for_function("() => /^0 measured/.test(announcer.textContent)")


def test_a_cpu_and_a_gpu_of_different_machines_are_compared(show: Callable[..., Visitor]) -> None:
    params = {"model": ("darnn", "lenet5"), "device": ("cpu", "cuda")}
    suite = Suite("plain.PlainModels", TIME_AND_MEMORY, params)
    gpu = ("gpu-lab",)
    plan = Plan(commits=4, suites=(suite,), machines_without_cpu=gpu, steps=0, never_run=0)
    visitor = show("cpu-and-gpu", plan)
    visitor.go("#/overview?m=ci-2core&group=*")
    heads = visitor.page.locator(f"{SECTION} table.matrix thead th").all_inner_texts()
    assert any("cuda" in head and head.endswith("on gpu-lab") for head in heads), heads
    where = r"on ci-2core, torch 2.15.0 at [0-9a-f]{8} and gpu-lab, torch 2.15.0 at [0-9a-f]{8}:"
    for by, a, b in (("device", "cpu", "cuda"), ("machine", "ci-2core", "gpu-lab")):
        visitor.turn_to(f"#/compare?by={by}&a={a}&b={b}&group=*")
        assert re.search(f"{b} against {a} {where}", visitor.text(LEAD))
        rows = visitor.rows(f"{SECTION} table.list")
        assert {row[0].split(" · ")[0] for row in rows} == {"darnn", "lenet5"}


def test_what_was_measured_interleaved_is_coloured(show: Callable[..., Visitor]) -> None:
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
    visitor = show("gains", plan, with_comparisons)
    visitor.go("#/compare?by=version&a=plain&b=tuned&group=*")
    rows = {row[0].split(" · ")[0]: row for row in visitor.rows(f"{SECTION} table.list")}
    assert rows["darnn"][1:3] == ["10.7 ms", "5.33 ms"], "the values of its rounds"
    assert visitor.page.locator(f"{SECTION} .mark.better").count() == 1
    assert visitor.page.locator(f"{SECTION} .mark.worse").count() == 0, "0.5 % is below the rule"
    notes = " ".join(visitor.page.locator(f"{SECTION} .note").all_inner_texts())
    assert "all 2: mean" in notes
    assert "Hollow: values of separate runs, 1 case." in notes
    assert rows["darnn"][4] == "elsewhere, torch 2.15.0"
    assert re.fullmatch("ci-2core, torch 2.15.0 at [0-9a-f]{8}", rows["lstnet"][4])
    assert visitor.page.locator(f"{SECTION} .mark.hollow").count() == 1
    visitor.go("#/compare?by=version&a=tuned&b=plain&group=*")
    assert visitor.page.locator(f"{SECTION} .mark.worse").count() == 1, "the other way round"
    visitor.turn_to("#/compare?by=version&q=darnn&m=elsewhere")
    assert "Hollow" not in visitor.text(SECTION), "of what is shown"
    visitor.follow(visitor.page.get_by_role("link", name="Timeline", exact=True))
    assert visitor.address == "#/timeline", "no run is from elsewhere"
    visitor.turn_to("#/timeline?m=elsewhere")
    assert visitor.text(f"{SECTION} .notice").startswith("No time is measured here")
    visitor.turn_to(f"#/case?s={plain.format('darnn')}&m=elsewhere")
    assert re.search(r"Newest time .* · ci-2core Newest", visitor.text(f"{SECTION} .facts"))


def test_releases_and_versions_are_compared_by_one_metric(reader: Visitor) -> None:
    page = reader.go("#/releases")
    reader.follow(page.get_by_role("link", name="ci-2core · torchspeed"))
    [row] = reader.rows("#findings table")
    assert row[0] == "darnn · cpu · forward"
    assert row[1].startswith("✗ worse +20.0 %")
    reader.turn_to("#/releases?m=ci-2core")
    reader.follow(page.get_by_role("link", name="All 3 comparisons"))
    assert re.search(r"^Time, 2.15.0 against 2.14.1 .*: 2 cases", reader.text(LEAD))
    reader.choose("metric", "peak-memory-bytes")
    lead = reader.text(LEAD)
    assert re.search(r"^Peak memory, .*: 1 case", lead), lead
    reader.follow(page.locator(f"{SECTION} table.list a").first)
    assert "never run" not in reader.text(SECTION)


def test_the_machine_and_the_metric_stay_when_the_view_changes(visitor: Visitor) -> None:
    page = visitor.go()
    visitor.choose("m", "ci-2core")
    visitor.choose("metric", "peak-memory-bytes")
    for name in ("Timeline", "Compare", "Overview"):
        visitor.follow(page.get_by_role("link", name=name, exact=True))
        assert visitor.field("m").input_value() == "ci-2core"
        assert visitor.field("metric").input_value() == "peak-memory-bytes"
    page.get_by_role("searchbox").first.fill("darnn forward")
    assert "m=ci-2core" in str(page.locator(".matches a").first.get_attribute("href"))


def test_search_finds_cases_by_all_their_names_and_versions(reader: Visitor) -> None:
    page = reader.go()
    for words, found, address in (
        ("darnn forward", "darnn · cpu · forward time", "time_forward"),
        ("attention training", "darnn · cpu · backward time", "time_backward"),  # in words
        ("mm forward", "darnn · cpu · forward time", "time_forward"),  # an operator
        ("torch 2.15", "release torch 2.15.0", "#/compare?by=release&b=2.15.0"),
        ("v0.1.0", "[0-9a-f]{8} ", "#/changes?rev="),
    ):
        reader.turn_to("#/")
        page.keyboard.press("/")
        page.get_by_role("searchbox").first.fill(words)
        first = plain(page.locator(".matches a:visible").first.inner_text())
        assert re.match(found, first), first
        assert ("ci-2core" in first) == ("time_" in address), "the machine stands beside the value"
        page.keyboard.press("Enter")
        reader.settled()
        assert address in reader.address
        assert not page.locator(".matches").is_visible()


def test_each_outcome_is_told_apart(show: Callable[..., Visitor]) -> None:
    plan = Plan(
        commits=4, steps=0, machines=("ci-2core", "workstation"), machines_with_cuda=(),
        unmeasured_commits=0, failures=0.1, timeouts=0.1, never_run=0.5,
    )  # fmt: skip
    visitor = show("outcomes", plan)
    page = visitor.go("#/about")
    groups = "\n".join(map(plain, page.locator("#about-app summary").all_inner_texts()))
    for pattern in (
        r"✗ failed \d+ cases?: RuntimeError: the input has 3 features, the model 4 · ",
        r"⏱ timed out \d+ cases?: stopped after 600 s · ",
        r"– skipped \d+ cases?: no GPU on this machine · ",
        r"◷ behind \d+ cases?: 1 commit behind the newest · ",
    ):
        assert re.search(f"^{pattern}", groups, re.MULTILINE), (pattern, groups)
    visitor.go()
    lead = page.locator(".note.newest")
    [(machine, count)] = re.findall(r"^(\S+) measured .* (\d+) failed\.$", lead.inner_text(), re.M)
    visitor.follow(lead.get_by_role("link", name="failed"))
    visitor.unfold()
    rows = page.locator("#about-app table.list tbody tr:has(.failed, .timed-out)")
    listed = list(map(plain, rows.all_inner_texts()))
    assert sum(visitor.site.index["commits"][-1][0][:8] in row for row in listed) == int(count)
    assert all(f"{machine} · torch 2.15.0" in row for row in listed)


def test_a_project_without_models_speaks_of_its_benchmarks(show: Callable[..., Visitor]) -> None:
    functions = tuple((f"time_{name}", "time", "seconds") for name in ("solve", "refine"))
    suite = Suite("mesh.Solver", functions, {"size": ("big", "small")})
    visitor = show("mesh", small_plan(8, suites=(suite,), steps=0, tag_every=0))
    page = visitor.go()
    assert {"solve", "refine"} == {row[0] for row in visitor.rows(".matrix") if len(row) > 1}
    text = plain(page.locator("body").inner_text()).lower()
    assert not re.findall("pytorch|device|pass |forward", text)
    assert page.locator("header nav a", has_text="Releases").count() == 0


def test_nothing_measured_yet(show: Callable[..., Visitor]) -> None:
    def without_results(project: Project) -> None:
        for file in project.results.glob("*/*-*.json*"):
            file.unlink()
        project.build()

    visitor = show("unmeasured", small_plan(3, steps=0), without_results)
    visitor.go()
    assert visitor.text("h1") == "Nothing is measured yet."
    assert "asv-watch bench" in visitor.text(SECTION)


def test_it_works_from_a_file_and_nothing_is_wider_than_a_phone(
    site: Site, visit: Callable[..., Visitor]
) -> None:
    on_disk = Site(site.folder, (site.folder / "index.html").as_uri())
    visitor = visit(on_disk, viewport={"width": 390, "height": 844}, has_touch=True)
    page = visitor.go()
    for view in (*VIEWS, timeline(DARNN), f"#/case?s={DARNN}"):
        visitor.turn_to(view)
        page.wait_for_timeout(100)
        assert page.locator("#trouble:not([hidden])").count() == 0, view
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, view
    visitor.turn_to("#/changes")
    assert visitor.text(".setup summary") == "all machines", "of all environments"
    visitor.turn_to("#/")
    names = page.locator(".matrix tr:not(.family) > th:first-child")
    widths = names.evaluate_all("all => all.map(name => name.offsetWidth)")
    assert all(width > 90 for width in widths), "names keep their words whole"
    tops = page.locator("header nav a").evaluate_all("all => all.map(link => link.offsetTop)")
    assert len(set(tops)) == 1, "the views are in one row"
