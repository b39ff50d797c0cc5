"""Everything that runs outside the measured process; nothing here knows what is measured.

It serves any asv project: with ``"plugins": [".asv_watch"]`` in its asv.conf.json, `asv publish`
writes the site that ``docs/other-projects.md`` describes. Every other command of asv is asv's own.
"""

import gc
import sys
from types import TracebackType
from typing import Any

__version__ = "0.8.0"


def setup() -> None:
    """Make `asv publish` build this package's site; asv calls this when it loads the plugin."""
    sys.excepthook = _print_exception  # first, because the import below takes most of a second
    # The package itself is imported by everything below it, which must not import asv.
    from asv_watch.asv import publish_hook  # noqa: PLC0415

    publish_hook.setup(_publish)


def _publish(configuration: Any, shown: Any, log: Any) -> None:
    """Build the site; its imports take a while, and other commands of asv do not need them."""
    gc.disable()  # runs form no reference cycles; searching for them takes 3 % of the time
    from asv_watch.site.build import publish_site  # noqa: PLC0415

    publish_site(configuration, shown, warn=log.warning, inform=log.info)
    gc.freeze()  # else Python searches again when it exits, for another 8 %


def _print_exception(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """Print one line instead of a traceback for Ctrl-C; the exit status is 130."""
    if issubclass(kind, KeyboardInterrupt):
        print("asv: interrupted", file=sys.stderr)
    else:
        sys.__excepthook__(kind, error, trace)
