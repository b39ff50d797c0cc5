"""A package index that answers by halves, or with an error."""

import os
import sys
from http.server import BaseHTTPRequestHandler

import pytest

from asv_watch.errors import MachineError
from asv_watch.machine.commands import run_command
from tests.servers import Quiet, served

INSTALL = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed"]
WHEEL = "/torch-0.0.7-py3-none-any.whl"
LIST = f'<a href="{WHEEL}">{WHEEL[1:]}</a>'.encode()


class Index(Quiet, BaseHTTPRequestHandler):
    """Answers that there is an error, or promises more than it sends."""

    kind = ""

    def do_GET(self) -> None:
        self.send_response(503 if self.kind == "error" else 200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(LIST) + 999 * (self.kind == "cut off")))
        self.end_headers()
        self.wfile.write(LIST)


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("error", "torch===0.0.7 .*the package index names no version of it"),
        ("cut off", "the package index answers slowly or wrongly"),
    ],
)
def test_the_index_is_blamed(kind: str, reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Index, "kind", kind)
    with served(Index) as address:
        for name, value in {
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_INDEX_URL": f"http://{address}/simple",
            "PIP_EXTRA_INDEX_URL": "",
            "PIP_FIND_LINKS": "",
            "PIP_RETRIES": "0",
            "PIP_DEFAULT_TIMEOUT": "1",
            "PIP_NO_CACHE_DIR": "1",
            "NO_PROXY": "127.0.0.1",
            "no_proxy": "127.0.0.1",
        }.items():
            monkeypatch.setenv(name, value)
        with pytest.raises(MachineError, match=reason) as error:
            run_command([*INSTALL, "torch===0.0.7"], 60, installs=True)
    assert "\n" not in str(error.value)
