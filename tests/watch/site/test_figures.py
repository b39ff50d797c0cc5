"""Static figures: the same bytes for the same data, drawn once, safe for any label."""

from __future__ import annotations

import re
from pathlib import Path
from unittest import mock

import pytest

from tests.watch.site.conftest import Project, parsed_xml, registered
from tests.watch.site.handmade import HOSTILE, handmade_contents
from torchspeed.published.values import site_rows
from torchspeed.watch.site import figures
from torchspeed.watch.site.figures import Figure, Mark, draw_svg, write_figures


def test_every_figure_is_drawn_where_there_is_data(published: Project) -> None:
    _, index = registered(published.html / "data/index.js")
    files = [one["file"] for one in index["figures"]]
    assert files == [
        "figures/overview.svg",
        "figures/devices.svg",
        "figures/published.svg",
    ]
    page = (published.html / "index.html").read_text()
    for one in index["figures"]:
        drawn = (published.html / one["file"]).read_bytes()
        assert parsed_xml(drawn).tag == "{http://www.w3.org/2000/svg}svg"
        assert f'src="{one["file"]}"' in page
        assert one["text"]
    preview = (published.html / "figures/preview.png").read_bytes()
    assert preview.startswith(b"\x89PNG")
    width, height = (int.from_bytes(preview[at : at + 4], "big") for at in (16, 20))
    assert (width, height) == (1200, 630)


def test_without_a_gpu_there_is_no_picture_of_one(tmp_path: Path) -> None:
    drawn = write_figures(tmp_path, handmade_contents(), site_rows())
    assert [figure.file for figure in drawn] == ["figures/overview.svg", "figures/published.svg"]


def test_the_same_data_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_figures(tmp_path / name, handmade_contents(), site_rows())
    files = sorted((tmp_path / "one" / "figures").iterdir())
    assert len(files) == 3
    for file in files:
        assert file.read_bytes() == (tmp_path / "two" / "figures" / file.name).read_bytes()
        assert not re.search(rb"20\d\d-\d\d-\d\dT", file.read_bytes())


def test_an_unchanged_figure_is_not_drawn_again(tmp_path: Path) -> None:
    write_figures(tmp_path / "old", handmade_contents(), ())
    with mock.patch.object(figures, "_draw", side_effect=AssertionError("drawn again")):
        write_figures(tmp_path / "new", handmade_contents(), (), previous=tmp_path / "old")
    for file in (tmp_path / "old" / "figures").iterdir():
        assert file.read_bytes() == (tmp_path / "new" / "figures" / file.name).read_bytes()


@pytest.mark.parametrize("label", [HOSTILE, "$\\frac{", "bell\x07", "日本語", "x" * 500, ""])
def test_any_label_can_be_drawn(label: str) -> None:
    figure = Figure(
        "figures/x.svg",
        label,
        label,
        ((label, (Mark(1.0, "#000000", interval=(0.9, 1.2)),)),),
        "seconds",
        ((label, Mark(1.0, "#000000")),),
    )
    root = parsed_xml(draw_svg(figure, "key"))
    assert not [element for element in root.iter() if element.tag.endswith("script")]
