"""The templates of the site, and their filters."""

from __future__ import annotations

from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemBytecodeCache, FileSystemLoader, StrictUndefined
from jinja2.bccache import Bucket

from asv_watch import quantities
from asv_watch.judge.causes import in_words
from asv_watch.quantities import timestamp
from asv_watch.site.change_data import size


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
        instant=timestamp,
        moment=partial(timestamp, pattern="%Y-%m-%d %H:%M UTC"),
        size=size,
        in_words=in_words,
    )
    return templates
