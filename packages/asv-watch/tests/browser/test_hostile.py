"""Names, parameters, commit messages and reasons come from outside: none may run or break out."""

from collections.abc import Callable
from urllib.parse import quote

import pytest

from tests.browser.visitor import SECTION, VIEWS, Site, Visitor, timeline
from tests.generator import HOSTILE

BITE = quote("<img src=x onerror=document.title='owned'>")


@pytest.fixture
def guest(hostile: Site, visit: Callable[..., Visitor]) -> Visitor:
    return visit(hostile)


def unharmed(visitor: Visitor) -> None:
    """No markup of a name became an element, no script of it ran."""
    page = visitor.page
    assert page.title() != "owned"
    assert page.evaluate("document.querySelectorAll('img[src=x], main script').length") == 0
    assert page.evaluate("document.querySelectorAll('[onerror], [onclick], [onload]').length") == 0


def test_names_and_addresses_are_shown_and_no_view_runs_them(guest: Visitor) -> None:
    assert any(HOSTILE in commit[2] for commit in guest.site.index["commits"])
    page = guest.go()
    for address in (
        f"#/{BITE}",
        f"#/changes?rev={BITE}&m={BITE}&e={BITE}&q={BITE}",
        f"#/timeline?s={BITE}&m={BITE}",
        f"#/compare?by={BITE}&a={BITE}&b={BITE}&q={BITE}",
        f"#/case?s={BITE}",
        "#/__proto__?constructor=1",
        *VIEWS,
    ):
        guest.turn_to(address)
        guest.unfold()
        unharmed(guest)
    assert guest.address == "#/about"
    assert "<img src=x" in page.locator(SECTION).inner_text()
    machines = [entry["name"] for entry in guest.site.index["machines"] if "<" in entry["name"]]
    assert {*machines} <= {*page.locator("#setup [name=m] option").all_text_contents()}


def test_a_hostile_case_can_be_drawn_and_linked(guest: Visitor) -> None:
    index = guest.site.index
    series = next(
        each
        for each in index["series"]
        if each["last"] and HOSTILE in index["cases"][each["c"]]["key"]
    )
    key = index["cases"][series["c"]]["key"]
    machine = index["machines"][series["m"]]["name"]
    page = guest.go(timeline(key, m=machine))
    page.get_by_role("application").focus()
    page.keyboard.press("Home")
    page.get_by_text("Values as a table").click()
    unharmed(guest)
    guest.go(f"#/case?s={quote(key)}&m={quote(machine)}")
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
