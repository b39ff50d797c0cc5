"""Tracked values of a case: one benchmark measures all, once per run; others look theirs up."""

import dataclasses
import json
from collections.abc import Callable
from functools import partial, reduce
from operator import getitem
from pathlib import Path
from typing import Any

from ._suite import _Suite

Measured = Any
"""Dictionaries or data classes of values; or why a case was ``skipped`` or ``failed``."""


def tracked(
    *names: str,
    unit: str,
    scale: float = 1,
    higher_is_better: bool = False,
    exact: bool = False,
) -> Callable[..., float]:
    """Make a ``track_*`` that returns one value of what ``setup`` left in ``self.measured``.

    Names are keys that lead to the value, the outermost first. It is multiplied by ``scale``; an
    ``exact`` one is the same in every run, so that any difference counts.
    """

    def track(self: Any, *case: Any) -> float:
        value: float | None = reduce(getitem, names, self.measured)
        if value is None:
            raise RuntimeError(f"the case ran, but has no value {'.'.join(names)!r}")
        return value if scale == 1 else scale * value

    track.__dict__["unit"] = unit
    if higher_is_better:
        track.__dict__["higher_is_better"] = True
    if exact:
        track.__dict__["exact"] = True
    return track


share = partial(tracked, unit="%", scale=100, higher_is_better=True)
"""Makes a ``track_*`` of a share that is better when it is higher, in percent."""


class _CachedSuite(_Suite):
    """The first benchmark of a case measures all of its values; the others look theirs up."""

    timeout = 900  # s: counting dispatches of a model that has 78,000 takes minutes

    measure: Callable[..., Measured]
    """Measures one case; raises NotImplementedError if it cannot run here."""

    folder: str
    """Folder of the run, which asv removes afterwards."""
    measured: Measured

    def setup_cache(self) -> str:
        """Return the folder that the benchmarks of a run share, and asv removes."""
        return str(Path.cwd())

    def setup(self, folder: str, *case: Any) -> None:
        """Measure the case, or read what another benchmark has measured.

        Raises:
            NotImplementedError: The case was skipped.
            RuntimeError: The case failed.
        """
        self.folder = folder
        name = "-".join([self.__module__, type(self).__name__, *map(str, case)])
        record = Path(folder, f"{name}.json")
        if not record.exists():
            try:
                text = json.dumps(self.measure(*case), default=dataclasses.asdict)
            except NotImplementedError as reason:
                text = json.dumps({"skipped": str(reason)})
            except Exception as error:
                text = json.dumps({"failed": f"{type(error).__name__}: {error}"})
            record.write_text(text, encoding="utf-8")
        self.measured = json.loads(record.read_text(encoding="utf-8"))
        if "skipped" in self.measured:
            raise NotImplementedError(self.measured["skipped"])
        if "failed" in self.measured:
            raise RuntimeError(self.measured["failed"])
