"""What holds on every view: addresses, scripts off, files, small screens, print, keyboard."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import quote

import pytest

from tests.browser.visitor import VIEWS, Site, Visitor, address_of, plain, timeline

DARNN = "time_series.TimeSeries.time_forward('darnn', 'cpu')"
# Addresses with as much state in them as their views know.
PERMALINKS = [
    "#/?metric=peak-memory-bytes&m=ci-2core",
    "#/changes?base=v0.1.0&m=gpu-lab&n=20&metric=time-seconds&device=cpu&pass=forward&q=net&sort=-now",
    timeline(DARNN, m="gpu-lab", x="date", y="relative", n="50", ci="0", quartiles="1", steps="0"),
    timeline(DARNN, m="gpu-lab", x="torch"),
    "#/timeline?metric=peak-memory-bytes&y=log&m=gpu-lab&q=darnn",
    "#/compare?by=device&by=torch&norm=cpu+·+torch+2.14.1&pass=backward&order=suite",
    "#/compare?show=memory&device=cpu",
    "#/status?outcome=skipped&m=ci-2core&sort=case",
    "#/all-changes?state=confirmed&direction=worse&sort=-change&q=cpu",
    f"#/case?s={quote(DARNN)}&m=gpu-lab&n=50",
    "#/about",
]


def shown(visitor: Visitor) -> str:
    """All that a person reads and chooses in the view, on one line."""
    section = visitor.page.locator("main > section:not([hidden])")
    fields = section.evaluate(
        """node => [...node.querySelectorAll('select, input')].map(
             field => `${field.name}=${field.type === 'checkbox' ? field.checked : field.value}`
           ).join(' ')"""
    )
    paths = section.evaluate("node => node.querySelectorAll('svg *').length")
    return f"{plain(section.inner_text())} {fields} {paths}"


@pytest.mark.parametrize("address", PERMALINKS)
def test_a_permalink_reproduces_its_view(
    site: Site, visitor: Visitor, visit: Callable[..., Visitor], address: str
) -> None:
    visitor.go(address)
    first = shown(visitor)
    other = visit(site.url)
    other.go(visitor.address)
    assert shown(other) == first
    other.page.reload()
    other.settled()
    assert shown(other) == first


def test_back_and_forward_walk_through_what_was_seen(visitor: Visitor) -> None:
    page = visitor.go("#/")
    seen = [shown(visitor)]
    page.locator("header nav").get_by_text("Revisions").click()
    visitor.settled()
    visitor.choose("m", "ci-2core")
    seen.append(shown(visitor))
    visitor.choose("n", "20")
    seen.append(shown(visitor))
    page.locator("header nav").get_by_text("Comparison").click()
    visitor.settled()
    seen.append(shown(visitor))
    page.go_back()
    visitor.settled()
    assert shown(visitor) == seen[2]
    page.go_back()
    visitor.settled()
    assert shown(visitor) == seen[1]
    page.go_back()
    page.go_back()
    visitor.settled()
    assert shown(visitor) == seen[0]
    for expected in seen[1:]:
        page.go_forward()
        if expected is seen[1]:
            page.go_forward()
        visitor.settled()
        assert shown(visitor) == expected


@pytest.mark.parametrize("view", VIEWS)
def test_title_navigation_and_heading_name_the_view(visitor: Visitor, view: str) -> None:
    page = visitor.go("#/about" if view == "overview" else "#/")
    link = page.locator(f'header nav a[href="{address_of(view)}"]')
    link.click()
    visitor.settled()
    assert page.title().startswith(link.inner_text())
    assert page.locator('header nav a[aria-current="page"]').count() == 1
    assert link.get_attribute("aria-current") == "page"
    heading = page.locator("main > section:not([hidden]) h1")
    assert heading.count() == 1
    assert heading.inner_text() == link.inner_text()
    assert heading.evaluate("node => node === document.activeElement"), "focus follows the view"


def test_an_unknown_view_shows_the_overview(visitor: Visitor) -> None:
    page = visitor.go("#/no-such-view?x=%")
    assert page.locator("main > section:not([hidden]) h1").inner_text() == "Overview"


def test_everything_works_from_a_file(site: Site, visit: Callable[..., Visitor]) -> None:
    visitor, served = visit(site.file_url), visit(site.url)
    page = visitor.go()
    served.go()
    for address in PERMALINKS:
        visitor.turn_to(address)
        assert page.locator("#trouble:not([hidden])").count() == 0
        served.turn_to(address)
        assert shown(visitor) == shown(served)


def test_nothing_is_asked_of_the_network_once_a_page_is_there(
    site: Site, visit: Callable[..., Visitor]
) -> None:
    visitor = visit(site.file_url, offline=True)
    visitor.go()
    for view in VIEWS:
        visitor.turn_to(address_of(view))
    assert all(url.startswith(("file:", "about:")) for url in visitor.requests)


def test_numbers_read_without_scripts(site: Site, visit: Callable[..., Visitor]) -> None:
    visitor = visit(site.url, java_script_enabled=False)
    page = visitor.page
    page.goto(site.url)
    text = plain(page.locator("main").inner_text())
    for title in ("Overview", "All changes", "Revisions", "Timeline", "Comparison", "Status"):
        assert page.get_by_role("heading", name=title, exact=True).is_visible()
    for model in {entry["labels"]["model"] for entry in site.index["series"]}:
        assert model in text
    assert " ms" in text
    assert " MiB" in text
    assert "needs JavaScript" in text
    assert page.locator("table.matrix").first.is_visible()
    assert page.locator("#theme").is_hidden()
    page.locator('header nav a[href="#/status"]').click()
    assert page.get_by_role("heading", name="Status", exact=True).is_visible()


def test_damaged_data_leave_the_published_page_and_say_so(
    site: Site, visit: Callable[..., Visitor]
) -> None:
    visitor = visit(site.url)
    page = visitor.page
    page.route("**/data/index.js", lambda route: route.abort())
    page.goto(site.url)
    page.locator("#trouble").wait_for()
    assert "data/index.js could not be read" in visitor.text("#trouble")
    page.unroute("**/data/index.js")
    page.route("**/data/s/*", lambda route: route.abort())
    visitor.go(timeline(DARNN, m="gpu-lab"))
    assert "could not be read" in visitor.text("#trouble")
    visitor.complaints.clear()  # the browser's own lines about the files that did not come


@pytest.mark.parametrize("width", [360, 700, 1280])
def test_no_view_is_wider_than_the_screen(
    site: Site, visit: Callable[..., Visitor], width: int
) -> None:
    visitor = visit(site.url, viewport={"width": width, "height": 740})
    visitor.go()
    for address in (*map(address_of, VIEWS), *PERMALINKS):
        page = visitor.turn_to(address)
        wide, high, tabs = page.evaluate(
            """() => [
              document.documentElement.scrollWidth,
              document.querySelector('header').getBoundingClientRect().height,
              [...document.querySelectorAll('header nav a')].map((link) => {
                const { left, right } = link.getBoundingClientRect();
                return [left, right];
              }),
            ]"""
        )
        assert wide <= width, address
        assert high <= (64 if width > 704 else 120)
        assert len(tabs) == len(VIEWS)
        assert all(0 <= left < right <= width for left, right in tabs), "no tab is clipped"


def test_controls_fold_away_on_a_phone_and_work_there(
    site: Site, visit: Callable[..., Visitor]
) -> None:
    visitor = visit(site.url, viewport={"width": 360, "height": 740}, has_touch=True)
    page = visitor.go("#/changes?m=gpu-lab")
    field = page.locator("#changes-app [name=device]")
    assert field.is_hidden()
    page.locator("#changes-app").get_by_text("Choose what to see").tap()
    field.select_option("cuda")
    visitor.settled()
    assert "device=cuda" in visitor.address


def test_a_finger_reads_values_and_follows_the_link_below(
    site: Site, visit: Callable[..., Visitor]
) -> None:
    visitor = visit(site.url, viewport={"width": 360, "height": 740}, has_touch=True)
    page = visitor.go(timeline(DARNN, m="gpu-lab"))
    newest = visitor.text(".readout .when code")
    box = page.get_by_role("application").bounding_box()
    assert box is not None
    page.touchscreen.tap(box["x"] + 120, box["y"] + 120)
    assert visitor.address.startswith("#/timeline")
    assert visitor.text(".readout .when code") != newest
    page.locator(".readout .when a").tap()
    visitor.settled()
    assert visitor.address.startswith("#/changes?rev=")


def test_the_theme_is_chosen_and_remembered(site: Site, visit: Callable[..., Visitor]) -> None:
    visitor = visit(site.url, color_scheme="light")
    page = visitor.go()
    back = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(back)
    button = page.locator("#theme")
    assert plain(button.inner_text()) == "Theme: auto"
    button.click()
    assert plain(button.inner_text()) == "Theme: light"
    button.click()
    assert plain(button.inner_text()) == "Theme: dark"
    dark = page.evaluate(back)
    assert dark != light
    page.reload()
    visitor.settled()
    assert plain(page.locator("#theme").inner_text()) == "Theme: dark"
    assert page.evaluate(back) == dark
    page.locator("#theme").click()
    assert page.evaluate(back) == light


def test_a_dark_system_shows_a_dark_page_with_and_without_scripts(
    site: Site, visit: Callable[..., Visitor]
) -> None:
    back = "getComputedStyle(document.body).backgroundColor"
    for scripts in (True, False):
        visitor = visit(site.url, color_scheme="dark", java_script_enabled=scripts)
        visitor.page.goto(site.url)
        red = int(visitor.page.evaluate(back).split("(")[1].split(",")[0])
        assert red < 60


def test_a_browser_that_forbids_storage_still_changes_its_theme(
    site: Site, visit: Callable[..., Visitor]
) -> None:
    visitor = visit(site.url)
    visitor.page.add_init_script(
        "Object.defineProperty(window, 'localStorage', {get() { throw new Error('forbidden'); }})"
    )
    page = visitor.go()
    page.locator("#theme").click()
    assert plain(page.locator("#theme").inner_text()) == "Theme: light"


def test_print_shows_results_and_no_controls(site: Site, visit: Callable[..., Visitor]) -> None:
    visitor = visit(site.url, color_scheme="dark")
    page = visitor.go("#/changes?m=gpu-lab")
    page.emulate_media(media="print")
    assert page.locator("header").is_hidden()
    assert page.locator("#changes-app .controls").is_hidden()
    assert page.locator("#changes-app table").first.is_visible()
    back = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert back == "rgb(255, 255, 255)"
    ink = page.evaluate("getComputedStyle(document.querySelector('.list td')).color")
    assert ink == "rgb(0, 0, 0)"
    visitor.go(timeline(DARNN, m="gpu-lab"))
    frame = page.locator(".chart-frame").first
    assert frame.evaluate("node => getComputedStyle(node).backgroundColor") == back


def test_nothing_moves_for_those_who_ask_for_it(site: Site, visit: Callable[..., Visitor]) -> None:
    visitor = visit(site.url, reduced_motion="reduce")
    visitor.go()
    for view in VIEWS:
        page = visitor.turn_to(address_of(view))
        moving = page.evaluate(
            """() => [...document.querySelectorAll('*')].filter(node => {
                 const style = getComputedStyle(node);
                 const lasts = style.transitionDuration.split(',').map(parseFloat);
                 return style.animationName !== 'none' || lasts.some(seconds => seconds > 0);
               }).length"""
        )
        assert moving == 0


def test_the_keyboard_alone_reaches_everything(visitor: Visitor) -> None:
    page = visitor.go("")
    page.keyboard.press("Tab")
    skip = page.evaluate("document.activeElement.className")
    assert "skip" in skip
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    assert visitor.address in ("", "#/"), "skipping is no change of view"
    reached = set()
    for _ in range(40):
        page.keyboard.press("Tab")
        reached.add(
            page.evaluate("document.activeElement.className || document.activeElement.name")
        )
        ring = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert ring != "none", "focus can be seen"
    assert any("cell" in name for name in reached)
    assert "e" in reached
    assert "scroll" in reached, "a table that scrolls can be scrolled by keyboard"


@pytest.mark.parametrize("width", [390, 1280])
def test_two_tabs_and_enter_reach_the_first_result_of_each_view(
    site: Site, visit: Callable[..., Visitor], width: int
) -> None:
    visitor = visit(site.url, viewport={"width": width, "height": 800})
    addresses = {name: address_of(name) for name in VIEWS if name not in ("about", "releases")}
    addresses |= {"one chart": timeline(DARNN), "case": f"#/case?s={quote(DARNN)}"}
    for name, address in addresses.items():
        page = visitor.go(address)
        for key in ("Tab", "Tab", "Enter"):
            page.keyboard.press(key)
        focused = page.evaluate("document.activeElement.matches('svg.chart, .multiples, table')")
        assert focused, name
        assert page.evaluate("document.activeElement.getBoundingClientRect().top < innerHeight"), (
            "it is on the screen"
        )
        page.keyboard.press("Tab")
        following = "main > section:not([hidden])"
        assert page.evaluate(
            f"document.querySelector('{following}').contains(document.activeElement)"
        )


def test_on_a_phone_a_table_that_goes_on_shows_it(
    site: Site, visit: Callable[..., Visitor]
) -> None:
    visitor = visit(site.url, viewport={"width": 390, "height": 844})
    visitor.go()
    for address in (*map(address_of, VIEWS), f"#/case?s={quote(DARNN)}"):
        page = visitor.turn_to(address)
        tables = page.evaluate(
            """() => [...document.querySelectorAll("main > section:not([hidden]) table")]
                 .filter((table) => table.checkVisibility())
                 .map((table) => [table.scrollWidth > innerWidth, table.closest(".scroll")])
                 .filter(([wide]) => wide)
                 .map(([, box]) => box && [box.tabIndex, box.getAttribute("aria-label"),
                   getComputedStyle(box).backgroundAttachment])"""
        )
        for box in tables:
            assert box is not None, f"a table of {address} is wider than the screen"
            focusable, label, shadows = box
            assert focusable == 0
            assert label
            assert "scroll" in shadows, "a shadow at the edge where it goes on"


@pytest.mark.parametrize("view", VIEWS)
def test_a_site_without_results_says_so(
    unmeasured: Site, visit: Callable[..., Visitor], view: str
) -> None:
    visitor = visit(unmeasured.url)
    visitor.go(address_of(view))
    text = visitor.text("main > section:not([hidden])")
    assert view == "about" or "Nothing has been measured yet" in text


def test_the_first_measured_commit_already_makes_a_site(
    launch: Site, visit: Callable[..., Visitor]
) -> None:
    visitor = visit(launch.url)
    page = visitor.go("#/")
    assert "first value" in visitor.text("#overview-matrix")
    assert "steady" not in visitor.text("#overview-matrix"), "one value says nothing about that"
    visitor.go("#/changes")
    assert "nothing to compare with" in visitor.text("#changes-app .notice")
    page.get_by_role("link", name="torch 2.15.0 against 2.14.1").click()
    visitor.settled()
    assert "torch 2.14.1" in page.locator("#changes-app .unit thead").first.inner_text()
    visitor.go("#/timeline")
    once = page.locator("p.note").filter(has_text="Not measured twice under the same conditions")
    assert once.get_by_role("link").count() > 1
    assert not page.locator(".multiples li").count(), "no chart of a lone dot"
    visitor.go(timeline(DARNN))
    page.get_by_role("application").focus()
    for key in ("ArrowLeft", "ArrowRight", "+", "-", "Shift+ArrowLeft", "Home", "Escape"):
        page.keyboard.press(key)
        visitor.settled()
    visitor.choose("x", "torch")
    assert len(visitor.rows(".readout table")) == 1
    for view in ("compare", "status"):
        visitor.go(address_of(view))
