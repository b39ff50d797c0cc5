"""Adds a release to the key ``releases`` of asv.conf.json and changes nothing else."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

from asv_watch.asv.settings import listed_releases, load_settings
from asv_watch.errors import WatchError
from asv_watch.files import write_whole
from asv_watch.records.release_order import release_order

_KEY = re.compile(r'^(?P<indent> *)"releases": *\{ *\n', re.M)
_INDENT = "    "


def add_release(root: Path, requirements: Mapping[str, str]) -> str:
    """Write one line into ``root/asv.conf.json``, where its place among the releases is.

    Args:
        root: the checkout.
        requirements: name to release: the requirement that is listed first, then what belongs to
            this release of it.

    Returns:
        The line, without the spaces before it.

    Raises:
        WatchError: the release is listed already, or the file is not laid out in lines.
    """
    requirement, release = next(iter(requirements.items()))
    path = root / "asv.conf.json"
    text = path.read_text(encoding="utf-8")
    conf = load_settings(root)
    lists = listed_releases(conf)
    listed = [of_release[requirement] for of_release in lists.get(requirement, [])]
    if release in listed:
        raise WatchError(f"{requirement} {release} is listed in asv.conf.json already")
    if not hasattr(conf, "releases"):
        text = text.replace("{\n", f'{{\n{_INDENT}"releases": {{\n{_INDENT}}},\n', 1)
    if requirement not in lists and (key := _KEY.search(text)):
        text = _with_list(text, key, requirement)
    name = re.escape(json.dumps(requirement))
    start = re.compile(rf"^(?P<indent> *){name}: *\[ *\n", re.M)
    key = _KEY.search(text)
    found = start.search(text, key.end()) if key else None
    if found is None:
        raise WatchError(
            f'asv.conf.json has no list of {requirement} under "releases" with a line for each '
            f'release; write `"releases": {{`, `{json.dumps(requirement)}: [`, `]` and `}},` on '
            "lines of their own"
        )
    newer = [other for other in listed if release_order(other) > release_order(release)]
    lines = text[found.end() :].split("\n")
    entry = json.dumps(release if len(requirements) == 1 else dict(requirements))
    is_last = len(newer) == len(listed)
    if is_last and listed:
        lines[len(newer) - 1] += ","
    lines.insert(len(newer), f"{found['indent']}{_INDENT}{entry}{'' if is_last else ','}")
    write_whole(path, (text[: found.end()] + "\n".join(lines)).encode())
    return entry


def _with_list(text: str, key: re.Match[str], requirement: str) -> str:
    """Begin a list of a requirement that has none."""
    inner = key["indent"] + _INDENT
    rest = text[key.end() :]
    comma = "" if rest.lstrip().startswith("}") else ","
    return f"{text[: key.end()]}{inner}{json.dumps(requirement)}: [\n{inner}]{comma}\n{rest}"
