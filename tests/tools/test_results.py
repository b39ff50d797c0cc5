"""Numbers and outputs that pages take from results are those of the results."""

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
    table = written("<!-- changes: torch on ci-2core-xeon: 12 % on 1 day --><!-- end -->")
    assert "`plain.PlainModels.time_backward('tcn', 'cpu')` | +60." in table
    assert "sixteen" not in written("<!-- releases: torch on ci-2core -->sixteen<!-- end -->")
    with pytest.raises(ValueError, match="no releases of torch were compared on nothing"):
        written("<!-- releases: torch on nothing --><!-- end -->")
    with pytest.raises(ValueError, match="no change of nothing"):
        written("<!-- change: torch 2.8.0 on ci-2core: nothing --><!-- end -->")
