"""Regular expressions that select cases by a part of their names, as ``re.search`` does."""

import functools
import re

from asv_watch.errors import WatchError


def pattern_of(case: str) -> str:
    """Return a pattern for ``--cases``, with a dot for each special character."""
    return re.sub(r"[^\w ,=-]", ".", case)


@functools.lru_cache(maxsize=64)
def case_pattern(text: str, origin: str = "cases") -> re.Pattern[str]:
    """Compile an expression of the command line or of asv.conf.json.

    Args:
        text: the expression.
        origin: what messages call it, such as ``--cases``.

    Raises:
        WatchError: it is not a regular expression, or is nested too deeply.
    """
    try:
        return re.compile(text)
    except (re.error, OverflowError, RecursionError, MemoryError) as error:
        raise WatchError(
            f"{origin} {text[:100]!r} is not a regular expression that can be used "
            f"({error or 'it nests too much'}); try a part of a name"
        ) from error
