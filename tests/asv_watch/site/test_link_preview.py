"""The picture of link previews: the same bytes for the same answers, whatever a name holds."""

from __future__ import annotations

import pytest

from asv_watch.site.answers import answers_of
from asv_watch.site.link_preview import draw_link_preview
from tests.asv_watch.site.handmade import HOSTILE, handmade_contents


@pytest.mark.parametrize("name", ["torchspeed", HOSTILE, "bell\x07", "日本語", "x" * 500, ""])
def test_it_is_a_picture_of_the_size_that_previews_have(name: str) -> None:
    answers = answers_of(handmade_contents())
    picture = draw_link_preview(name, "Benchmarks", answers)
    assert picture.startswith(b"\x89PNG")
    width, height = (int.from_bytes(picture[at : at + 4], "big") for at in (16, 20))
    assert (width, height) == (1200, 630)
    assert draw_link_preview(name, "Benchmarks", answers) == picture
