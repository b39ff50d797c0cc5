"""Values that others published, read from a TOML file for each source.

``python -m torchspeed.published.values`` writes those that the site shows. Neither torch nor asv
is needed.
"""

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent

SITE_VALUES = FOLDER / "values.json"
"""The file that asv.conf.json names as ``published_values``."""

SI = {"s": ("s", 1.0), "ms": ("s", 1e-3), "%": ("%", 1.0), "": ("", 1.0)}
"""The unit of a value and its factor, by printed unit."""

SAME_WORK = "Here the same work runs on other hardware and in another language."


def published_values() -> Iterator[dict[str, Any]]:
    """Yield a row for each number, by source and in the order of its tables.

    A row has the number's ``value`` and ``unit``, the labels of its line and column (quantity,
    hardware, model, device and the like), and what the file says of its table (``title``) and of
    the whole ``document``. ``source`` is the name of the file. ``slip`` says what is known to be
    wrong with the number, and is empty for most.
    """
    for file in sorted(FOLDER.glob("*.toml")):
        source = tomllib.loads(file.read_text("utf-8"))
        hardware, tables = source.pop("hardware"), source.pop("tables")
        for table in tables:
            by_row, columns = table["rows_by"], table["columns"]
            for cells in table["rows"]:
                line = dict(zip(by_row, cells, strict=False))
                for column, printed in zip(columns, cells[len(by_row) :], strict=True):
                    if printed == "-":
                        continue
                    row = {**source, **table, **table["labels"], **line, **column}
                    row["slip"] = " ".join(
                        slip["note"]
                        for slip in table.get("slips", ())
                        if slip["where"].items() <= row.items()
                    )
                    row |= {"source": file.stem, "document": source["title"]}
                    row["hardware"] = hardware[row["hardware"]]["name"]
                    number, _, own_unit = printed.partition(" ")
                    row["unit"], factor = SI[row.get("unit", own_unit)]
                    row["value"] = float(number) * factor
                    yield row


def site_rows() -> list[dict[str, Any]]:
    """Return the values that have a comparable asv case, in the form of `SITE_VALUES`.

    One row is for the model of the same name, with the differences; another one is for the
    workload that does the same work, where there is one.
    """
    rows = []
    for row in published_values():
        if "case" in row:
            rows.append(_site_row(row, row["case"], *row["differences"]))
        if "same_case" in row:
            rows.append(_site_row(row, row["same_case"], SAME_WORK))
    return rows


def site_values() -> str:
    """Return the content of `SITE_VALUES` that the TOML files give."""
    rows = ",\n".join(json.dumps(row, ensure_ascii=False) for row in site_rows())
    return f"[\n{rows}\n]\n"


def _site_row(row: dict[str, Any], case: str, *differences: str) -> dict[str, Any]:
    source = "{hardware}, {framework}: {document} ({date}), {url}".format(**row)
    notes = f"{source}.", *differences, row.get("note", "").strip()
    return {
        "case": case.format(**row),
        "seconds": row["value"],
        "source": " ".join(filter(None, notes)),
    }


if __name__ == "__main__":
    SITE_VALUES.write_text(site_values(), encoding="utf-8")
