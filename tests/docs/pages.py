"""The pages that people read: their commands and links, and the outputs that they show."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.conftest import ROOT, git

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_PROGRAMS = ("asv-watch", "torchspeed", "make", "python -m", "python3 -m", "asv")
_COMMAND = re.compile(rf"^(?:\.venv/bin/)?((?:{'|'.join(_PROGRAMS)}) .*)$")
_MASKS = (
    (r"\b[0-9a-f]{7,40}\b", "H"),
    (r"torch [\d.]+|virtualenv-[\w.-]+", "E"),
    (r"[\d,]*\d(\.\d+)?", "N"),
    (r"(N min )?N s left", "N left"),
    (r"N [µnm]s\b", "N s"),
    (r"[+±−-]N", "N"),
    (r"[-=]{2,}|\s+", " "),
)
"""What differs in outputs from run to run, and what stands for it."""


@dataclass(frozen=True)
class Page:
    """A tracked Markdown file."""

    path: Path

    @property
    def name(self) -> str:
        """Path below the root of the checkout."""
        return self.path.relative_to(ROOT).as_posix()

    @property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    def blocks(self, language: str) -> list[str]:
        """Return the contents of the fenced blocks of a language."""
        return [body for kind, body in _FENCE.findall(self.text) if kind == language]

    def links(self) -> list[str]:
        """Return the targets of links and pictures, those in code left out."""
        return _LINK.findall(re.sub(r"`[^`\n]*`", "", _FENCE.sub("", self.text)))

    def anchors(self) -> set[str]:
        """Return the anchors that GitHub gives the headings."""
        headings = re.findall(r"^#+ (.+)$", _FENCE.sub("", self.text), re.MULTILINE)
        return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}

    def commands(self) -> Iterator[str]:
        """Yield the commands of shell blocks and of code in sentences, without comments."""
        lines = "\n".join(self.blocks("sh")).replace("\\\n", " ").splitlines()
        in_sentences = re.findall(r"`([^`\n]+)`", _FENCE.sub("", self.text))
        for line in [*lines, *in_sentences]:
            for part in line.partition(" #")[0].split(" && "):
                without_redirection = re.split(r" [|>] ", part)[0]
                if found := _COMMAND.match(without_redirection.strip()):
                    yield found[1]

    def steps(self) -> list[tuple[str, list[str]]]:
        """Return each block of commands, with the lines that the page shows after it."""
        found: list[tuple[str, list[str]]] = []
        for kind, body in _FENCE.findall(self.text):
            if kind == "sh":
                found.append((body, []))
            elif kind == "text":
                found[-1][1].extend(line for line in body.splitlines() if line.strip(" ."))
        return found


def pages() -> list[Page]:
    """Return the pages that git tracks or would track."""
    listed = git(ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "*.md")
    paths = [ROOT / name for name in sorted(set(listed.split("\0"))) if name]
    return [Page(path) for path in paths if path.is_file() and "node_modules" not in path.parts]


def shape(line: str) -> str:
    """Return a line with letters in place of its numbers, hashes and environments."""
    for pattern, letter in _MASKS:
        line = re.sub(pattern, letter, line)
    return line.strip()


def absent(shown: list[str], printed: str) -> list[str]:
    """Return the lines of a page that no line of an output looks like."""
    shapes = {shape(line) for line in printed.splitlines()}
    return [line for line in shown if shape(line) not in shapes]
