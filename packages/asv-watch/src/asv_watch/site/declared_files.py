"""JSON files of a project that the site shows: published values and compared cases."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

import msgspec

from asv_watch.comparison import Comparison, Ratio
from asv_watch.errors import WatchError
from asv_watch.files import read_regular

_T = TypeVar("_T")


class PublishedValue(msgspec.Struct, frozen=True):
    """One published value and the case that measures the same here."""

    case: str
    """Full name of the case, parameters included."""
    value: float
    """Value in ``unit``."""
    unit: str
    source: str
    """Hardware, title, date and address."""
    note: str
    """What differs from the work that is measured here."""


class CasePair(msgspec.Struct, frozen=True):
    """Two cases whose samples were interleaved."""

    before: str
    """Full name of the first case, parameters included."""
    after: Comparison
    """The second case; its rounds have the numbers of both, in this order."""

    @property
    def ratio(self) -> Ratio:
        """Ratio of the second case to the first, from the rounds.

        Raises:
            ValueError: a round lacks two numbers, or the rounds give no ratio.
        """
        result = None
        if all(len(numbers) == 2 for numbers in self.after.rounds):
            result = self.after.ratio(0, 1)
        if result is None:
            raise ValueError(f"{self.after.case} needs two rounds of two numbers above zero")
        return result


class ComparedCases(msgspec.Struct, frozen=True):
    """Measurements by one machine of cases that do the same in two ways."""

    machine: str
    conditions: str
    """What it was measured with: ``torch 2.15.0``."""
    pairs: tuple[CasePair, ...]


def read_published(file: Path | None) -> Any:
    """Read a list of published values (key ``published_values`` of asv.conf.json).

    Args:
        file: None if the project names none.

    Raises:
        WatchError: the file cannot be read, or holds something else.
    """
    if file is None:
        return []
    values = _read(file, list[PublishedValue], "published_values", "a list of published values")
    return msgspec.to_builtins(values)


def read_case_comparisons(files: tuple[Path, ...]) -> list[ComparedCases]:
    """Read comparisons of cases with each other (key ``case_comparisons`` of asv.conf.json).

    Raises:
        WatchError: a file cannot be read, or holds something else.
    """
    content = "a comparison of cases"
    comparisons = [_read(file, ComparedCases, "case_comparisons", content) for file in files]
    for file, compared in zip(files, comparisons, strict=True):
        for pair in compared.pairs:
            try:
                pair.ratio  # noqa: B018 - damage is named here
            except ValueError as error:
                raise WatchError(f"{file}: {error}") from error
    return comparisons


def _read(file: Path, kind: type[_T], key: str, content: str) -> _T:
    try:
        return msgspec.json.decode(read_regular(file), type=kind)
    except OSError as error:
        raise WatchError(
            f"{file}: {error.strerror}; correct the key {key} of asv.conf.json"
        ) from error
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise WatchError(f"{file} is not {content}: {error}") from error
