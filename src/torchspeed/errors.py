"""The one error that a person may see: what was wrong, and the remedy."""

import difflib
from collections.abc import Iterable


class TorchspeedError(ValueError):
    """Bad input or a bad place to work in.

    Its message is one line that names the input and the remedy. Entry points
    print it to standard error and exit with status 1, without a traceback.
    """


def suggest(name: str, names: Iterable[str]) -> str:
    """Return the remedy for an unknown name: the names nearest to it, or else all."""
    near = difflib.get_close_matches(name.lower(), list(names), n=3, cutoff=0.4)
    return f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(names)}"
