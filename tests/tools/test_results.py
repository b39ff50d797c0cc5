"""Numbers and outputs that pages take from results are those of the results."""

import re
from pathlib import Path

import pytest

from tools.documented_results import marked_pages, written


@pytest.mark.parametrize("path", marked_pages(), ids=lambda path: path.name)
def test_a_page_says_what_the_results_say(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text == written(text), "run `python -m tools.documented_results`"


def test_a_number_that_was_changed_by_hand_is_found() -> None:
    case = "plain.PlainModels.time_forward('lenet5', 'cpu')"
    marker = f"<!-- change: torch 2.8.0 on ci-2core: {case} -->"
    page = written(f"It became {marker}−99.9 %<!-- end --> faster.")
    assert "−99.9 %" not in page
    assert "−10." in page
    table = written("<!-- changes: torch on ci-2core-xeon: 12 % on 1 day: time_ --><!-- end -->")
    assert "`plain.PlainModels.time_backward('tcn', 'cpu')` | +60." in table
    assert "sixteen" not in written("<!-- releases: torch on ci-2core -->sixteen<!-- end -->")
    with pytest.raises(ValueError, match="no releases of torch were compared on nothing"):
        written("<!-- releases: torch on nothing --><!-- end -->")
    with pytest.raises(ValueError, match="no change of nothing"):
        written("<!-- change: torch 2.8.0 on ci-2core: nothing --><!-- end -->")


def test_a_table_against_an_older_release_has_the_ratios_that_the_command_prints() -> None:
    table = written("<!-- against: torch 2.15.0, 2.6.0 on ci-2core: tcn --><!-- end -->")
    command = "releases torch findings 2.15.0 --against 2.6.0 --machine ci-2core --cases tcn"
    printed = written(f"<!-- printed: asv-watch {command} --><!-- end -->")
    found = re.findall(r"`plain\S+backward.*?` \| (.*?) \|", table)
    assert len(found) == 1
    assert found[0] in printed
