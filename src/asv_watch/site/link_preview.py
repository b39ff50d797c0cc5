"""``preview.png``: what chat programs and the like show beside a link to the site."""

from __future__ import annotations

import io

from PIL import Image, ImageDraw, ImageFont

from asv_watch.site.answers import Answers

_SIZE = (1200, 630)
_MARGIN = 80
_GREY, _BLACK = "#57606a", "#1f2328"


def draw_link_preview(project: str, subtitle: str, answers: Answers) -> bytes:
    """Draw the questions of the first screen and their answers as a PNG file.

    Args:
        project: Its name.
        subtitle: What the site shows.
        answers: Only their headlines are shown.
    """
    picture = Image.new("RGB", _SIZE, "white")
    drawing = ImageDraw.Draw(picture)

    def write(text: str, y: int, size: int, colour: str) -> None:
        drawing.text((_MARGIN, y), text, colour, ImageFont.load_default(size))

    write(project, 60, 72, _BLACK)
    write(subtitle, 155, 32, _GREY)
    for place, (question, answer) in enumerate(answers.headlines):
        write(question, 245 + 120 * place, 26, _GREY)
        write(answer, 280 + 120 * place, 44, _BLACK)
    buffer = io.BytesIO()
    picture.save(buffer, "png", compress_level=1)
    return buffer.getvalue()
