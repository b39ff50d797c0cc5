"""Sends results to a Codespeed server, by its ``/result/add/json/``."""

from __future__ import annotations

import base64
import datetime
import json
import os
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterable, Iterator
from typing import Any

from asv_watch.errors import WatchError
from asv_watch.exchange.table import TableRow
from asv_watch.records.records import main_release

LOGIN = "ASV_WATCH_CODESPEED_LOGIN"
"""Variable with name and password for a server that asks for them: ``name:password``."""
_TIMEOUT_S = 60
_LONGEST_EXECUTABLE = 30
"""Characters of an executable's name in Codespeed."""


def codespeed_results(
    measurements: Iterable[TableRow], *, project: str, branch: str
) -> Iterator[dict[str, Any]]:
    """Give the times of a history in the form that Codespeed takes.

    Codespeed's executable is the main requirement, or asv's name of the environment where none is
    pinned; its environment is the machine.
    """
    for measured in measurements:
        if measured.value is None or measured.unit != "seconds":
            continue
        release = main_release(json.loads(measured.requirements))
        at = datetime.datetime.fromtimestamp(measured.commit_date, datetime.UTC)
        yield {
            "commitid": measured.commit_hash,
            "branch": branch,
            "project": project,
            "executable": (release or measured.environment)[:_LONGEST_EXECUTABLE],
            "benchmark": measured.case_name,
            "environment": measured.machine,
            "result_value": measured.value,
            "revision_date": f"{at:%Y-%m-%d %H:%M:%S}",
        }


def send_to_codespeed(server: str, results: list[dict[str, Any]]) -> str:
    """Send results in one request, with the login of the variable `LOGIN`; return the answer.

    Raises:
        WatchError: the server cannot be reached, or refuses them.
    """
    if not server.startswith(("https://", "http://")):
        raise WatchError(f"--codespeed {server!r} is not an http address")
    address = f"{server.rstrip('/')}/result/add/json/"
    content = urllib.parse.urlencode({"json": json.dumps(results)}).encode()
    request = urllib.request.Request(address, content)  # noqa: S310 - an http address, see above
    if login := os.environ.get(LOGIN):
        encoded = base64.b64encode(login.encode()).decode()
        request.add_unredirected_header("Authorization", f"Basic {encoded}")
    try:
        with urllib.request.urlopen(request, timeout=_TIMEOUT_S) as answer:  # noqa: S310
            return str(answer.read(1000).decode("utf-8", "replace")).strip()
    except urllib.error.HTTPError as error:
        reason = error.read(300).decode("utf-8", "replace").strip()
        remedy = "add an environment with the machine's name there before results are sent"
        if error.code in {401, 403}:
            remedy = f"give name:password of a user there in {LOGIN}"
        raise WatchError(
            f"{address} refuses the results ({error.code}: {reason}); {remedy}"
        ) from error
    except (urllib.error.URLError, TimeoutError) as error:
        raise WatchError(f"{address} does not answer ({error}); check the address") from error
