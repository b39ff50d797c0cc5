"""Adds a torch release to the key ``releases`` of asv.conf.json and changes nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import asv.util

from asv_watch.errors import WatchError
from asv_watch.files import write_whole
from asv_watch.records.release_order import release_order

_START = re.compile(r'^(?P<indent> *)"releases": *\[ *\n', re.M)


def add_release(root: Path, torch: str, torchvision: str) -> str:
    """Write one line into ``root/asv.conf.json``, where its place among the releases is.

    Args:
        root: the checkout.
        torch: release of torch.
        torchvision: the one that fits it.

    Returns:
        The line, without the spaces before it.

    Raises:
        WatchError: the release is listed already, or the file has no such list.
    """
    path = root / "asv.conf.json"
    text = path.read_text(encoding="utf-8")
    listed = asv.util.load_json(str(path), js_comments=True).get("releases", [])
    start = _START.search(text)
    if start is None:
        raise WatchError(
            'asv.conf.json has no list "releases" with a line for each release; '
            'add `"releases": [` and `],` on two lines'
        )
    if any(release[0] == torch for release in listed):
        raise WatchError(f"torch {torch} is listed in asv.conf.json already")
    newer = [release for release in listed if release_order(release[0]) > release_order(torch)]
    lines = text[start.end() :].split("\n")
    last = len(newer) == len(listed)
    entry = f'["{torch}", "{torchvision}"]'
    if last and listed:
        lines[len(newer) - 1] += ","
    lines.insert(len(newer), f"{start['indent']}    {entry}{'' if last else ','}")
    write_whole(path, (text[: start.end()] + "\n".join(lines)).encode())
    return entry
