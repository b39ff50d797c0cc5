"""Names, parameters, commit messages and reasons come from outside: none may run or break out."""

from collections.abc import Callable
from urllib.parse import quote

import pytest

from tests.browser.visitor import SECTION, VIEWS, Site, Visitor, address_of, timeline
from tests.generator import HOSTILE


@pytest.fixture
def guest(hostile: Site, visit: Callable[..., Visitor]) -> Visitor:
    return visit(hostile.url)


def unharmed(visitor: Visitor) -> None:
    """No markup of a name became an element, no script of it ran."""
    page = visitor.page
    assert page.title() != "owned"
    assert page.evaluate("document.querySelectorAll('img[src=x], main script').length") == 0
    assert page.evaluate("document.querySelectorAll('[onerror], [onclick], [onload]').length") == 0


def test_no_view_runs_what_a_name_says(guest: Visitor) -> None:
    page = guest.go()
    for view in VIEWS:
        guest.turn_to(address_of(view))
        page.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true")
        unharmed(guest)


def test_the_names_are_shown_as_they_are(hostile: Site, guest: Visitor) -> None:
    index = hostile.index
    assert any(HOSTILE in commit[2] for commit in index["commits"])
    page = guest.go("#/about")
    page.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true")
    assert "<img src=x" in page.locator(SECTION).inner_text()
    machine = next(entry["name"] for entry in index["machines"] if "<" in entry["name"])
    assert machine in page.locator("#setup [name=m] option").all_text_contents()


def test_a_hostile_case_can_be_drawn_and_linked(hostile: Site, guest: Visitor) -> None:
    index = hostile.index
    hostile_cases = [
        (index["cases"][series["c"]]["key"], series)
        for series in index["series"]
        if series["last"] and "<" in index["cases"][series["c"]]["key"]
    ]
    assert hostile_cases
    for key, series in hostile_cases[:2]:
        machine = index["machines"][series["m"]]["name"]
        page = guest.go(timeline(key, m=machine))
        page.get_by_role("application").focus()
        page.keyboard.press("Home")
        page.get_by_text("Values as a table").click()
        unharmed(guest)
        guest.go(f"#/case?s={quote(key)}&m={quote(machine)}")
        unharmed(guest)


def test_an_address_cannot_bring_in_markup(guest: Visitor) -> None:
    bite = "%3Cimg%20src%3Dx%20onerror%3Ddocument.title%3D'owned'%3E"
    for address in (
        f"#/{bite}",
        f"#/changes?rev={bite}&m={bite}&e={bite}&q={bite}",
        f"#/timeline?s={bite}&m={bite}",
        f"#/compare?by={bite}&a={bite}&b={bite}&q={bite}",
        f"#/case?s={bite}",
        "#/__proto__?constructor=1",
    ):
        guest.go(address)
        unharmed(guest)


def test_the_policy_refuses_scripts_of_the_page_itself(guest: Visitor) -> None:
    page = guest.go()
    page.evaluate(
        """() => {
          const script = document.createElement('script');
          script.textContent = "document.title = 'owned'";
          document.body.append(script);
          const box = document.createElement('div');
          box.innerHTML = '<p style="color: red">x</p>';
          document.body.append(box);
        }"""
    )
    unharmed(guest)
    assert len(guest.complaints) >= 2
    assert all("Content Security Policy" in complaint for complaint in guest.complaints)
    guest.complaints.clear()  # these were provoked
