"""Options of the command line, declared once as fields of the records that configure a run.

A field's name, type and default are the option's; ``option`` adds the help text and limits.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from typing import Any


def option(
    default: Any,
    description: str = "",
    *flags: str,
    panel: str | None = None,
    names: Iterable[str] = (),
    compare: bool = True,
    **limits: float,
) -> Any:
    """Declare a field of a record that is also an option of commands.

    Args:
        default: value of the field and of the option.
        description: help text.
        flags: other names of the option, such as ``-m``.
        panel: heading of ``--help`` that lists the option.
        names: values that shell completion offers.
        compare: whether records that differ only in this field are unequal.
        limits: ``min`` and ``max`` of a number.
    """
    settings = {"help": description, "rich_help_panel": panel, **limits}
    metadata = {"flags": flags, "names": names, "panel": panel, "option": settings}
    return field(default=default, compare=compare, metadata=metadata)
