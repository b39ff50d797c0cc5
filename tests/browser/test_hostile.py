"""Names, parameters, commit messages and reasons come from outside: none may run or break out."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.asv_watch.generator import HOSTILE
from tests.browser.visitor import VIEWS, Site, Visitor, address_of, case_of, timeline


@pytest.fixture
def guest(hostile: Site, visit: Callable[..., Visitor]) -> Visitor:
    return visit(hostile.url)


def unharmed(visitor: Visitor) -> None:
    """No markup of a name became an element, no script of it ran."""
    page = visitor.page
    assert page.title() != "owned"
    assert page.evaluate("document.querySelectorAll('img[src=x], main script').length") == 0
    assert page.evaluate("document.querySelectorAll('[onerror], [onclick], [onload]').length") == 0


@pytest.mark.parametrize("view", VIEWS)
def test_no_view_runs_what_a_name_says(guest: Visitor, view: str) -> None:
    guest.go(address_of(view))
    unharmed(guest)


def test_the_names_are_shown_as_they_are(hostile: Site, guest: Visitor) -> None:
    index = hostile.index
    assert any(HOSTILE in commit[2] for commit in index["commits"])
    page = guest.go("#/about")
    page.evaluate("location.hash = '#/status'")
    guest.settled()
    assert "<img src=x" in page.locator("#status-app").inner_text()
    machine = next(entry["name"] for entry in index["machines"] if "<" in entry["name"])
    options = page.locator("#status-app [name=m] option").all_text_contents()
    assert machine in options


def test_a_hostile_machine_model_and_benchmark_can_be_chosen_and_linked(
    hostile: Site, guest: Visitor
) -> None:
    index = hostile.index
    series = [entry for entry in index["series"] if "<" in case_of(entry) and entry["last"]]
    assert series
    for entry in series[:3]:
        machine = index["machines"][entry["m"]]["name"]
        environment = index["environments"][entry["e"]]["id"]
        page = guest.go(timeline(case_of(entry), m=machine, e=environment))
        assert len(guest.rows(".readout table")) == 1
        page.get_by_role("application").focus()
        page.keyboard.press("Home")
        page.get_by_text("Values as a table").click()
        unharmed(guest)
    guest.choose("m", index["machines"][0]["name"])
    unharmed(guest)


def test_a_hostile_commit_is_compared_exported_and_listed(hostile: Site, guest: Visitor) -> None:
    index = hostile.index
    commit = next(entry for entry in index["commits"][1:] if HOSTILE in entry[2])
    page = guest.go(f"#/changes?rev={commit[0][:8]}&base={index['commits'][0][0][:8]}")
    assert HOSTILE.split("<")[1] in page.locator(".commit-bar").inner_text()
    page.get_by_text("after the base").click()
    page.get_by_text("Markdown as text").click()
    area = page.get_by_label("The changes as Markdown")
    page.wait_for_function("area => area.value !== ''", arg=area.element_handle())
    text = area.input_value()
    assert "\\<script\\>" in text
    assert "<script>" not in text, "Markdown lets HTML through unless it is escaped"
    page.locator("#changes-app [name=rev]").focus()
    unharmed(guest)


def test_an_address_cannot_bring_in_markup(guest: Visitor) -> None:
    bite = "%3Cimg%20src%3Dx%20onerror%3Ddocument.title%3D'owned'%3E"
    for address in (
        f"#/{bite}",
        f"#/changes?rev={bite}&base={bite}&m={bite}&e={bite}&q={bite}&sort={bite}&n={bite}",
        f"#/timeline?s={bite}&m={bite}&x={bite}&y={bite}&from={bite}&to={bite}",
        f"#/compare?show={bite}&by={bite}&norm={bite}&q={bite}",
        f"#/status?outcome={bite}&m={bite}&q={bite}",
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
