"""Values that others published, read from a TOML file for each source.

``python -m torchspeed.published.values`` writes those that the site shows. Neither torch nor asv
is needed.
"""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass
from importlib import resources
from itertools import chain
from pathlib import Path
from typing import Any

SITE_VALUES = Path(__file__).with_name("values.json")
"""What asv.conf.json names as ``published_values``."""

SI = {"s": ("s", 1.0), "ms": ("s", 1e-3), "%": ("%", 1.0), "": ("", 1.0)}
"""Printed unit to the unit of ``PublishedValue.value`` and its factor."""


@dataclass(frozen=True, slots=True)
class PublishedValue:
    """One published number."""

    value: float
    """In ``unit``."""
    unit: str
    """``s``, ``%``, or nothing for a loss."""
    quantity: str
    """What the number is of: ``forward``, ``epoch time``, …"""
    table: str
    labels: dict[str, str]
    """Model, data, batch, device, pass and the like, in our names."""
    hardware: str
    """What it was measured on."""
    case: str | None
    """The asv case that measures the model of that name here."""
    same_work: str | None
    """The workload here that does the published work to the letter, where there is one."""
    same_case: str | None
    """The asv case that measures that workload."""
    note: str
    """What looks wrong about the number in its source."""


@dataclass(frozen=True, slots=True)
class PublishedSource:
    """A document with published values; its file also says who wrote it, and what the work was."""

    key: str
    title: str
    url: str
    date: str
    """Year, or year-month-day, of the values."""
    framework: str
    differences: tuple[str, ...]
    """What is different here; every comparison says it."""
    values: tuple[PublishedValue, ...]


def load_sources() -> list[PublishedSource]:
    """Return all sources, by key, each with its values in the order of its tables."""
    files = resources.files(__package__).iterdir()
    tables = sorted(
        (file for file in files if file.name.endswith(".toml")), key=lambda file: file.name
    )
    return [_source(file.name.removesuffix(".toml"), tomllib.loads(file.read_text("utf-8")))
            for file in tables]  # fmt: skip


def site_rows() -> list[dict[str, Any]]:
    """Return the values that an asv case is comparable with, as the site's ``published`` has them.

    There is a row for the model of the same name, with what differs, and another one for the
    workload that does the same work, where there is one.
    """
    rows = []
    for source in load_sources():
        for published in source.values:
            if published.case is None:
                continue
            where = f"{published.hardware}, {source.framework}."
            model, differs = published.labels["model"], source.differences
            rows.append(_site_row(source, published, model, published.case, where, *differs))
            work, case = published.same_work, published.same_case
            if work is not None and case is not None:
                same = "The same work here, on other hardware and in another language."
                rows.append(_site_row(source, published, work, case, where, same))
    return rows


def site_values() -> str:
    """Return the content of `SITE_VALUES` that the TOML files give."""
    rows = ",\n".join(json.dumps(row, ensure_ascii=False) for row in site_rows())
    return f"[\n{rows}\n]\n"


def _site_row(
    source: PublishedSource, published: PublishedValue, model: str, case: str, *notes: str
) -> dict[str, Any]:
    return {
        "case": case,
        "model": model,
        "device": published.labels["device"],
        "pass": published.labels["pass"],
        "batch": published.labels.get("batch", ""),
        "value": published.value,
        "unit": "seconds",
        "source": f"{published.hardware}: {source.title} ({source.date}), {source.url}",
        "note": " ".join(note for note in (*notes, published.note) if note),
    }


def _source(key: str, content: dict[str, Any]) -> PublishedSource:
    hardware = {name: facts["name"] for name, facts in content["hardware"].items()}
    values = chain.from_iterable(_values(table, hardware) for table in content["tables"])
    return PublishedSource(
        key=key,
        title=content["title"],
        url=content["url"],
        date=content["date"],
        framework=content["framework"],
        differences=tuple(content["differences"]),
        values=tuple(values),
    )


def _values(table: dict[str, Any], hardware: dict[str, str]) -> list[PublishedValue]:
    values = []
    for row in table["rows"]:
        names, cells = row[: len(table["rows_by"])], row[len(table["rows_by"]) :]
        by_row = dict(zip(table["rows_by"], names, strict=True))
        for column, printed in zip(table["columns"], cells, strict=True):
            if printed == "-":
                continue
            labels = {**table["labels"], **by_row, **column}
            value, unit = _parse(printed, labels.pop("unit", None))
            values.append(
                PublishedValue(
                    value=value,
                    unit=unit,
                    quantity=labels.pop("quantity"),
                    table=table["title"],
                    hardware=hardware[labels.pop("hardware")],
                    labels=labels,
                    case=_filled(table.get("case"), labels),
                    same_work=_filled(table.get("same_work"), labels),
                    same_case=_filled(table.get("same_case"), labels),
                    note=table.get("note", "").strip(),
                )
            )
    return values


def _parse(printed: str, column_unit: str | None) -> tuple[float, str]:
    """Return a number with its own unit, or with its column's."""
    number, _, own_unit = printed.partition(" ")
    unit, factor = SI[own_unit if column_unit is None else column_unit]
    return float(number) * factor, unit


def _filled(template: str | None, labels: dict[str, str]) -> str | None:
    return None if template is None else template.format(**labels)


if __name__ == "__main__":
    SITE_VALUES.write_text(site_values(), encoding="utf-8")
