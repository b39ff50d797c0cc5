"""Regular expressions that select cases, from the command line or asv.conf.json.

Matching has a time limit: an expression with nested quantifiers, such as ``(a+)+$``, can take
longer than anybody waits.
"""

from __future__ import annotations

import functools
import re
import time

from asv_watch.errors import WatchError
from asv_watch.machine.signals import raising_after

_LONGEST_S = 2.0
"""CPU seconds that one expression may take for all names together; 100,000 names take 0.1."""
_LONGEST = 10_000
"""Most characters of an expression."""


def pattern_of(case: str) -> str:
    """Return a pattern for ``--cases``, with a dot for each special character."""
    return re.sub(r"[^\w ,=-]", ".", case)


class Pattern:
    """A regular expression that selects cases by name, as ``re.search`` does."""

    def __init__(self, text: str, origin: str) -> None:
        """Compile it.

        Args:
            text: The expression.
            origin: What messages call it, such as ``--cases``.

        Raises:
            WatchError: It is not a regular expression, or is too long or nested too deeply.
        """
        self._name = f"{origin} {text[:100]!r}"
        self._spent_s = 0.0
        reason = ""
        try:
            self._compiled = re.compile(text)
        except re.error as error:
            reason = str(error)
        except (OverflowError, RecursionError, MemoryError):
            reason = "it repeats or nests too much"
        if reason or len(text) > _LONGEST:
            raise WatchError(
                f"{self._name} is not a regular expression that can be used "
                f"({reason or 'it is too long'}); try a part of a name"
            )

    def matches(self, name: str) -> bool:
        """Tell whether a part of a name matches.

        Raises:
            WatchError: Matching took too long.
        """
        began = time.process_time()
        try:
            left_s = max(_LONGEST_S - self._spent_s, 0.001)
            with raising_after(left_s, TimeoutError, of_cpu=True):  # not the timer of a budget
                return self._compiled.search(name) is not None
        except TimeoutError as error:
            raise WatchError(
                f"{self._name} takes too long to match {name[:100]!r}; repeat no group that "
                "itself repeats something, or try a part of a name"
            ) from error
        finally:
            self._spent_s += time.process_time() - began


@functools.lru_cache(maxsize=64)
def case_pattern(text: str, origin: str = "cases") -> Pattern:
    """Return the pattern of a text, made once so that its time limit holds for all its uses."""
    return Pattern(text, origin)
