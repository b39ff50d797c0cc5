"""This repository's plugin of asv: asv-watch where it is installed, and one line where it is not.

asv stops at a plugin that it cannot import, and a clone begins with asv alone.
"""

from importlib import import_module

from asv.console import log


def setup() -> None:
    """Load asv-watch; asv calls this when it has imported the module."""
    try:
        asv_watch = import_module("asv_watch")
        asv_watch.setup()
    except ModuleNotFoundError as error:
        log.info(
            f"asv-watch is not installed ({error.name} is missing): asv goes on with its own "
            "site. `pip install ./packages/asv-watch` adds interleaved comparisons, outcomes of "
            "cases and this project's site"
        )
