"""Writes the lists of all commands from their own help: ``python -m tools.command_reference``."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from pathlib import Path

import typer

from asv_watch.cli.main import app as asv_watch
from torchspeed.cli.main import app as torchspeed

DOCS = Path(__file__).parents[1] / "docs"


@dataclass(frozen=True, slots=True)
class ReferencePage:
    """The page of one program."""

    program: str
    app: typer.Typer
    example: str
    """Command whose help the page asks for first."""
    path: Path
    others: str
    """Sentence that leads to related pages."""


PAGES = (
    ReferencePage(
        "asv-watch",
        asv_watch,
        "compare",
        DOCS / "commands.md",
        "Which one answers which question: [which-command.md](which-command.md). "
        "Commands that train: [commands-torchspeed.md](commands-torchspeed.md).",
    ),
    ReferencePage(
        "torchspeed",
        torchspeed,
        "train",
        DOCS / "commands-torchspeed.md",
        "Commands that measure, compare and publish: [commands.md](commands.md).",
    ),
)


def reference(page: ReferencePage) -> str:
    """Return a page: each command with its sentence, and the exit statuses."""
    group = typer.main.get_group(page.app)
    rows = [
        f"| `{page.program} {name}` | {_text(command.help)} |"
        for name, command in group.commands.items()
    ]
    return f"""\
# Commands of {page.program}

```sh
{page.program} {page.example} --help    # every command lists its options in this way
```

| command | what it does |
|---|---|
{chr(10).join(rows)}

{_text(group.epilog)}

{page.others} `python -m tools.command_reference` writes this page.
"""


def _text(text: str | None) -> str:
    """Return the first paragraph of a help text on one line, as the cell of a table."""
    paragraph = inspect.cleandoc(text or "").partition("\n\n")[0]
    return " ".join(paragraph.split()).replace("|", "\\|")


if __name__ == "__main__":
    for reference_page in PAGES:
        reference_page.path.write_text(reference(reference_page), encoding="utf-8")
