"""Stable names: what addresses, file names and headings call each thing.

Addresses are kept by people, so a name depends on the thing alone, never on
what else is published beside it.
"""

from __future__ import annotations

import hashlib
import re

from torchspeed.history.records import Environment, Series

_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]+")
_LONGEST_SLUG = 100  # characters; with folder and suffix well below what file systems allow


def digest(text: str, length: int = 6) -> str:
    """Short stable digest of a text: `length` hexadecimal characters."""
    raw = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16)
    return raw.hexdigest()[:length]


def slug(name: str) -> str:
    """A name that is safe as a file name on every file system.

    A name that is safe already, and lower case apart from class names, stays
    readable; whatever had to be replaced is told apart by a digest.
    """
    safe = _UNSAFE.sub("-", name).strip("-.")[:_LONGEST_SLUG]
    return safe if safe == name else f"{safe}-{digest(name, 8)}"


def environment_id(environment: Environment) -> str:
    """Short and stable: the torch release for people, a digest for the rest."""
    readable = f"torch-{environment.torch}" if environment.torch else "env"
    return f"{slug(readable)}-{digest(environment.name)}"


def environment_label(environment: Environment) -> str:
    """What a heading calls it: the requirements with their versions, and the Python."""
    order = {"torch": 0, "torchvision": 1}
    required = sorted(environment.requirements.items(), key=lambda kv: (order.get(kv[0], 2), kv))
    parts = [f"{name} {version}".strip() for name, version in required]
    if environment.python:
        parts.append(f"Python {environment.python}")
    return " · ".join(parts) or environment.name


def series_id(series: Series, environment: str) -> str:
    """Name of a series in addresses; `environment` is its environment's id."""
    return f"{series.machine}/{environment}/{series.case.name}"
