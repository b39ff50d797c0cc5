"""Writes the pages of all commands from their own help: ``python -m tools.command_reference``."""

from __future__ import annotations

import inspect
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import typer
from typer.testing import CliRunner

from asv_watch.cli.main import app as asv_watch
from torchspeed.cli.main import app as torchspeed

DOCS = Path(__file__).parents[1] / "docs"
EXAMPLE_WIDTH = 96
_DETAILS = re.compile(r"(?:\[[^\]]*\])?$")
_TYPE = re.compile(r" <(?:str|path|int|float|list)\b[^>]*>")


@dataclass(frozen=True, slots=True)
class ReferencePage:
    """The page of one program."""

    program: str
    app: typer.Typer
    example: str
    """Command whose help the page begins with."""

    file: str
    others: str
    """Sentence that leads to related pages."""

    @property
    def path(self) -> Path:
        """The file in the checkout."""
        return DOCS / self.file


@dataclass(frozen=True, slots=True)
class Option:
    """An option or argument as the help of one command describes it."""

    command: str
    names: str
    text: str
    details: str
    """Default and range in brackets, or nothing."""


PAGES = (
    ReferencePage(
        "asv-watch",
        asv_watch,
        "calibrate",
        "commands.md",
        "Commands that train: [commands-torchspeed.md](commands-torchspeed.md).",
    ),
    ReferencePage(
        "torchspeed",
        torchspeed,
        "info",
        "commands-torchspeed.md",
        "Commands that measure, compare and publish: [commands.md](commands.md).",
    ),
)


def reference(page: ReferencePage) -> str:
    """Return a page: each command with its own options, then the options of several commands."""
    group = typer.main.get_group(page.app)
    shared: dict[tuple[str, str], list[Option]] = defaultdict(list)
    for option in _options(group):
        shared[option.names, option.text].append(option)
    rows = []
    for name, command in group.commands.items():
        rows.append(f"| **`{page.program} {name}`** | {_text(command.help)} |")
        rows += [
            f"| `{option.names}` | {_described([option])} |"
            for [option, *others] in shared.values()
            if option.command == name and not others
        ]
    shared_rows = [
        f"| `{names}` | {_described(options)} | {', '.join(o.command for o in options)} |"
        for (names, _), options in shared.items()
        if len(options) > 1
    ]
    return "\n".join(
        [
            f"# Commands of {page.program}",
            "",
            *_example(page),
            "",
            f"Every command with its options, from its `--help`. {page.others}",
            f"`python -m tools.command_reference` writes this page. {_text(group.epilog)}",
            "",
            "| command, options of its own | what it does |",
            "|---|---|",
            *rows,
            "",
            "## Options of several commands",
            "",
            "| option | what it does | commands |",
            "|---|---|---|",
            *shared_rows,
            "",
        ]
    )


def _options(group: typer.core.TyperGroup) -> Iterator[Option]:
    for name, command in group.commands.items():
        with command.make_context(name, [], resilient_parsing=True) as context:
            for parameter in context.command.params:
                record = parameter.get_help_record(context)
                if parameter.name != "help" and record is not None:
                    names, help_text = map(_text, record)
                    details = "".join(_DETAILS.findall(help_text)[:1])
                    text = help_text.removesuffix(details).strip()
                    yield Option(name, _TYPE.sub("", names), text, details)


def _described(options: Sequence[Option]) -> str:
    """Return the help text with the default, and the defaults of commands that have another."""
    first, *others = options
    parts = [first.text, first.details]
    parts += [
        f"{option.command}: {option.details}"
        for option in others
        if option.details not in {"", first.details}
    ]
    return " ".join(filter(None, parts))


def _example(page: ReferencePage) -> list[str]:
    """Return the help of one command, as a terminal shows it."""
    runner = CliRunner(env={"COLUMNS": str(EXAMPLE_WIDTH), "TERM": "dumb", "NO_COLOR": "1"})
    printed = runner.invoke(page.app, [page.example, "--help"], prog_name=page.program).stdout
    lines = [line.rstrip() for line in printed.strip().splitlines()]
    command = f"{page.program} {page.example} --help"
    return ["```sh", command, "```", "", "```text", *lines, "```"]


def _text(text: str | None) -> str:
    """Return a help text on one line, as the cell of a table."""
    return " ".join(inspect.cleandoc(text or "").split()).replace("|", "\\|")


if __name__ == "__main__":
    for reference_page in PAGES:
        reference_page.path.write_text(reference(reference_page), encoding="utf-8")
