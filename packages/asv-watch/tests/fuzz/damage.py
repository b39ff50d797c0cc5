"""Ways in which a file can be damaged, as strategies of hypothesis, and how readers are tried."""

from __future__ import annotations

import contextlib
import json
import os
import signal
from collections.abc import Iterator
from copy import deepcopy
from types import FrameType
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "25"))
LONGEST_S = 30
fuzz = settings(max_examples=EXAMPLES)


@contextlib.contextmanager
def no_hang() -> Iterator[None]:
    """Fail if the body takes more CPU time than any reader may.

    What waits without end is ended by pytest's own limit, which has another timer.
    """

    def stop(number: int, frame: FrameType | None) -> None:
        raise AssertionError(f"it takes more than {LONGEST_S} s of CPU time")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, LONGEST_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


ODD_VALUES: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    10**400,
    2**63,
    1e308,
    -0.0,
    float("nan"),
    float("inf"),
    "",
    "x" * 5000,
    "\0",
    "\ud800",
    "\u202e",
    "../../x",
    "=1+1",
    [],
    {},
    [[]],
    [None],
    {"": None},
)


def damaged(content: bytes) -> st.SearchStrategy[bytes]:
    """Contents that differ from a sound one in a few bytes, or in a few values of its JSON."""
    ways = [_damaged_bytes(content)]
    lines = [line for line in content.split(b"\n") if line.strip()]
    if lines and _parses(content):
        ways.append(_damaged_json(content))
    elif lines and all(map(_parses, lines)):
        ways.append(
            st.integers(0, len(lines) - 1).flatmap(
                lambda index: _damaged_json(lines[index]).map(
                    lambda line: b"\n".join([*lines[:index], line, *lines[index + 1 :], b""])
                )
            )
        )
    return st.one_of(ways)


@st.composite
def _damaged_bytes(draw: st.DrawFn, content: bytes) -> bytes:
    begin = draw(st.integers(0, len(content)))
    end = draw(st.integers(begin, min(len(content), begin + 40)) | st.just(len(content)))
    junk = draw(
        st.binary(max_size=8)
        | st.sampled_from(
            [b"\n", b"{", b"]", b"NaN", b"\\ud800", b"[" * 3000, b"\0" * 9, b"1e999"]
        )
    )
    return content[:begin] + junk + content[end:]


@st.composite
def _damaged_json(draw: st.DrawFn, content: bytes) -> bytes:
    stored = json.loads(content)
    for _ in range(draw(st.integers(1, 3))):
        _damage(draw, stored)
    return json.dumps(stored).encode("utf-8", "surrogatepass")


def _damage(draw: st.DrawFn, stored: Any) -> None:
    """Replace, remove, rename or repeat one value, at any depth."""
    while isinstance(stored, dict | list) and stored:
        keys = list(stored) if isinstance(stored, dict) else list(range(len(stored)))
        key = draw(st.sampled_from(keys))
        inner = stored[key]
        if isinstance(inner, dict | list) and inner and draw(st.integers(0, 3)):
            stored = inner
            continue
        way = draw(st.integers(0, 3))
        if way == 0:
            del stored[key]
        elif way == 1 and isinstance(stored, dict):
            stored[draw(st.sampled_from(["", "version", "\ud800", f"{key}x"]))] = stored.pop(key)
        elif way == 2 and isinstance(stored, list):
            stored.insert(key, deepcopy(inner))
        else:
            stored[key] = deepcopy(draw(st.sampled_from(ODD_VALUES)))
        return


def _parses(content: bytes) -> bool:
    try:
        return isinstance(json.loads(content), dict | list)
    except ValueError:
        return False
