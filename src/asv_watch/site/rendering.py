"""The templates of the site, and their filters."""

from __future__ import annotations

from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemBytecodeCache, FileSystemLoader, StrictUndefined
from jinja2.bccache import Bucket

from asv_watch import quantities
from asv_watch.judge.causes import in_words
from asv_watch.quantities import timestamp
from asv_watch.site import names
from asv_watch.site.commit_changes import size
from asv_watch.site.contents import SeriesSummary
from asv_watch.site.failures import exception_line
from asv_watch.site.matrix import mark
from asv_watch.site.releases import half_width
from asv_watch.site.sparkline import sparkline
from asv_watch.statistics.ratio import verdict

_CLASSES = {"never run": "never", "timed out": "timed-out"}
"""CSS classes of outcomes that are two words."""


def render(template: str, **context: Any) -> str:
    """Render a template of the folder ``templates``; all that it shows is escaped."""
    return _templates().get_template(template).render(**context)


class _CompiledTemplates(FileSystemBytecodeCache):
    """Keeps compiled templates beside them, as Python does with modules, where it may write."""

    def dump_bytecode(self, bucket: Bucket) -> None:
        with suppress(OSError):
            Path(self.directory).mkdir(exist_ok=True)
            super().dump_bytecode(bucket)


@cache
def _templates() -> Environment:
    folder = Path(__file__).parent / "templates"
    templates = Environment(
        loader=FileSystemLoader(folder),
        bytecode_cache=_CompiledTemplates(str(folder / "__pycache__")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters.update(
        quantity=quantities.quantity,
        change=quantities.change,
        about=quantities.about,
        instant=timestamp,
        day=partial(timestamp, pattern="%Y-%m-%d"),
        moment=partial(timestamp, pattern="%Y-%m-%d %H:%M UTC"),
        share=quantities.share,
        faster=_faster,
        address=_address,
        quoted=_quoted,
        verdict_of_ratio=lambda ratio: verdict(ratio).value,
        half_width=half_width,
        css=lambda status: _CLASSES.get(status, status),
        model_name=_model_name,
        case_name=names.case_name,
        size=size,
        in_words=in_words,
        event_text=names.event_text,
        exception_line=exception_line,
        mark=mark,
        sparkline=sparkline,
    )
    return templates


def _address(row: SeriesSummary, view: str) -> str:
    machine, environment = row.series.machine, names.environment_id(row.environment)
    parts = {"s": row.series.case.name, "m": machine, "e": environment}
    return f"#/{view}?" + "&".join(f"{key}={_quoted(value)}" for key, value in parts.items())


def _model_name(row: SeriesSummary) -> str:
    """Return a row of a matrix as sentences call it: its model, or its group and benchmark."""
    owner = "" if row.owner == row.model else row.owner
    return " ".join(filter(None, [owner, row.model, *names.settings(row.labels)]))


def _quoted(text: str) -> str:
    return quote(text.encode("utf-8", "replace"), safe="")


def _faster(ratio: float) -> str:
    """Return a ratio of times, new / old, in words that need no key: ``1.03× faster``."""
    if abs(ratio - 1) < 0.005:
        return "unchanged"
    word = "faster" if ratio <= 1 else "slower"
    return f"{quantities.digits(max(ratio, 1 / ratio))}\N{MULTIPLICATION SIGN} {word}"
