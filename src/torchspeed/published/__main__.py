"""Writes the published values that the site shows: ``python -m torchspeed.published``."""

from __future__ import annotations

import json
from pathlib import Path

from torchspeed.published.values import site_rows

SITE_VALUES = Path(__file__).with_name("values.json")
"""What asv.conf.json names as ``published_values``."""


def site_values() -> str:
    """Return the content of `SITE_VALUES` that the TOML files give."""
    rows = ",\n".join(json.dumps(row, ensure_ascii=False) for row in site_rows())
    return f"[\n{rows}\n]\n"


if __name__ == "__main__":
    SITE_VALUES.write_text(site_values(), encoding="utf-8")
