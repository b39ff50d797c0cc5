"""Converts results of the first format, which named torch and torchvision, to that of today.

Versions name their requirements; peak memory and exact counts, which had a file of their own, are
in the comparisons of releases. What is converted already stays as it is.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from asv_watch.errors import WatchError
from asv_watch.files import read_regular, write_whole
from asv_watch.records import comparisons, explanations, releases
from asv_watch.records.release_order import release_order

_VALUES = "release_values.jsonl"
_IMPORT_CASE = "imports.Imports.time_import('torch')"
Json = dict[str, Any]


def migrate(results: Path) -> Iterator[Path]:
    """Convert the files of all machines.

    Args:
        results: the folder of all machines' results.

    Yields:
        Each file that was changed, written or removed.

    Raises:
        WatchError: a file cannot be read as JSON; those before it are converted.
    """
    for machine in sorted(path for path in results.iterdir() if path.is_dir()):
        for path in sorted((machine / comparisons.FOLDER).glob("*.jsonl")):
            yield from _convert(path, _comparison_line)
        yield from _convert(machine / explanations.FILE_NAME, _explanation)
        yield from _convert(machine / releases.FILE_NAME, _with_requirements)
        yield from _place_values(machine)


def _convert(path: Path, convert: Callable[[Json], Json]) -> Iterator[Path]:
    """Convert each line of a file; a damaged one stays."""
    if not path.exists():
        return
    lines = _lines(path)
    new = [convert(dict(line)) if isinstance(line, dict) else line for line in lines]
    if new != lines:
        _write(path, new)
        yield path


def _lines(path: Path) -> list[Json | str]:
    """Return the lines of a file; a damaged one as text."""
    lines: list[Json | str] = []
    try:
        content = read_regular(path).decode("utf-8", errors="surrogateescape")
    except OSError as error:
        raise WatchError(f"{path} cannot be read: {error.strerror}") from error
    for text in filter(str.strip, content.split("\n")):
        try:
            line = json.loads(text)
        except ValueError:
            line = text
        lines.append(line if isinstance(line, dict) else text)
    return lines


def _write(path: Path, lines: list[Json | str]) -> None:
    written = (
        json.dumps(line, separators=(",", ":"), ensure_ascii=False)
        if isinstance(line, dict)
        else line
        for line in lines
    )
    content = "".join(f"{line}\n" for line in written)
    write_whole(path, content.encode("utf-8", errors="surrogateescape"))


def _comparison_line(line: Json) -> Json:
    if "kind" in line:
        for side in ("before", "after"):
            line[side] = _with_requirements(line[side])
        line["format"] = 2
    if line.get("case") == _IMPORT_CASE:
        line["case"] = releases.import_case("torch")
    return line


def _explanation(line: Json) -> Json:
    for side in ("before", "after"):
        line[side] = _with_requirements(line[side])
    line.get("explanation", {}).pop("not_counted", None)
    return line | {"format": 2}


def _with_requirements(line: Json) -> Json:
    """Put the releases of torch and torchvision where all requirements are."""
    if "torch" not in line:
        return line
    names = ("torch", "torchvision")
    requirements = {name: line[name] for name in names if line.get(name)}
    converted: Json = {}
    for name, value in line.items():
        if name == "torch":
            converted["requirements"] = requirements
        elif name != "torchvision":
            converted[name] = 2 if name == "format" else value
    return converted


def _place_values(machine: Path) -> Iterator[Path]:
    """Add peak memory and exact counts to the comparisons of neighbouring releases."""
    path = machine / _VALUES
    if not path.exists():
        return
    of_version: dict[tuple[str, str], dict[str, Json]] = defaultdict(dict)
    for value in _lines(path):
        if isinstance(value, str):
            raise WatchError(f"{path} has a damaged line, {value[:80]!r}; remove it")
        of_version[value["commit"], value["torch"]][value["case"]] = value
    placed = set()
    for commit in dict.fromkeys(commit for commit, _ in of_version):
        torches = sorted({torch for at, torch in of_version if at == commit}, key=release_order)
        for old, new in pairwise(torches):
            sides = of_version[commit, old], of_version[commit, new]
            lines = [_values_line(case, sides) for case in {**sides[0], **sides[1]}]
            file = _newest(machine, commit, (old, new))
            if file is not None:
                stored = _lines(file)
                _write(file, [*stored, *(line for line in lines if line not in stored)])
                placed |= {(commit, old), (commit, new)}
                yield file
    for commit, torch in of_version.keys() - placed:
        raise WatchError(
            f"{path} has values of torch {torch} at {commit[:8]}, where no comparison with its "
            "neighbours is stored; remove these lines"
        )
    path.unlink()
    yield path


def _newest(machine: Path, commit: str, torches: tuple[str, str]) -> Path | None:
    """Return the newest comparison of two releases at a commit."""
    found = None
    for path in sorted((machine / comparisons.FOLDER).glob("*-release-*.jsonl")):
        stored, _ = comparisons.read_comparison(path)
        if stored is not None and stored.header.requirement == "torch":
            header = stored.header
            names = header.before.requirements["torch"], header.after.requirements["torch"]
            if names == torches and header.after.commit == commit:
                found = path
    return found


def _values_line(case: str, sides: tuple[dict[str, Json], dict[str, Json]]) -> Json:
    newest = (sides[1].get(case) or sides[0][case]) | {}
    line = {"case": case, "at": newest["at"], "unit": newest.get("unit", "")}
    if newest.get("exact"):
        line["exact"] = True
    for name, of_side in zip(("before", "after"), sides, strict=True):
        value = of_side.get(case)
        if value is not None:
            reason = {key: value[key] for key in ("skipped", "failed") if value.get(key)}
            line[name] = value["value"] if value.get("value") is not None else reason
    return line
