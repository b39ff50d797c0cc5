"""Writes the pages of all commands from their own help: ``python -m tools.command_reference``."""

from __future__ import annotations

import inspect
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import typer
from typer.testing import CliRunner

from asv_watch.cli.main import app as asv_watch
from torchspeed.cli.main import app as torchspeed

DOCS = Path(__file__).parents[1] / "docs"
EXAMPLE_WIDTH = 96
_TYPE = re.compile(r" <(?:str|path|int|float|list)\b[^>]*>")


@dataclass(frozen=True, slots=True)
class ReferencePage:
    """The page of one program."""

    program: str
    app: typer.Typer
    example: str
    """Command whose help the page begins with."""
    path: Path
    others: str
    """Sentence that leads to related pages."""


PAGES = (
    ReferencePage(
        "asv-watch",
        asv_watch,
        "calibrate",
        DOCS / "commands.md",
        "Commands that train: [commands-torchspeed.md](commands-torchspeed.md).",
    ),
    ReferencePage(
        "torchspeed",
        torchspeed,
        "info",
        DOCS / "commands-torchspeed.md",
        "Commands that measure, compare and publish: [commands.md](commands.md).",
    ),
)


def reference(page: ReferencePage) -> str:
    """Return a page: each command with its own options, then the options of several commands."""
    group = typer.main.get_group(page.app)
    takers: dict[tuple[str, str], list[str]] = defaultdict(list)
    for name, option in _options(group):
        takers[option].append(name)
    own = []
    for name, command in group.commands.items():
        own.append(f"| **`{page.program} {name}`** | {_text(command.help)} |")
        own += [f"| `{o}` | {text} |" for (o, text), takes in takers.items() if takes == [name]]
    shared = [
        f"| `{option}` | {text} | {_takers(names, group)} |"
        for (option, text), names in takers.items()
        if len(names) > 1
    ]
    return f"""\
# Commands of {page.program}

{_example(page)}

Every command with its options, from its `--help`. {page.others}
`python -m tools.command_reference` writes this page. {_text(group.epilog)}

| command, options of its own | what it does |
|---|---|
{_lines(own)}

## Options of several commands

| option | what it does | commands |
|---|---|---|
{_lines(shared)}
"""


def _options(group: typer.core.TyperGroup) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield each command with the names of an option, and its help with default and range."""
    for name, command in group.commands.items():
        with command.make_context(name, [], resilient_parsing=True) as context:
            for parameter in context.command.params:
                record = parameter.get_help_record(context)
                if parameter.name != "help" and record is not None:
                    names, text = map(_text, record)
                    yield name, (_TYPE.sub("", names), text)


def _takers(names: list[str], group: typer.core.TyperGroup) -> str:
    return "all" if len(names) == len(group.commands) else ", ".join(names)


def _example(page: ReferencePage) -> str:
    """Return the help of one command, as a terminal shows it."""
    runner = CliRunner(env={"COLUMNS": str(EXAMPLE_WIDTH), "TERM": "dumb", "NO_COLOR": "1"})
    printed = runner.invoke(page.app, [page.example, "--help"], prog_name=page.program).stdout
    shown = _lines(line.rstrip() for line in printed.strip().splitlines())
    return f"```sh\n{page.program} {page.example} --help\n```\n\n```text\n{shown}\n```"


def _lines(lines: Iterable[str]) -> str:
    return "\n".join(lines)


def _text(text: str | None) -> str:
    """Return a help text on one line, as the cell of a table."""
    return " ".join(inspect.cleandoc(text or "").split()).replace("|", "\\|")


if __name__ == "__main__":
    for reference_page in PAGES:
        reference_page.path.write_text(reference(reference_page), encoding="utf-8")
