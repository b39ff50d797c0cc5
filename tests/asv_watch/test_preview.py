"""`asv-watch preview`: the site is served to this machine alone."""

from __future__ import annotations

import http.client
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from asv_watch.cli.main import main
from asv_watch.preview import LOOPBACK, open_server


@pytest.fixture
def site(tmp_path: Path) -> Path:
    folder = tmp_path / "html"
    (folder / "data").mkdir(parents=True)
    (folder / "index.html").write_text("the site")
    (tmp_path / "secret").write_text("a secret")
    return folder


@pytest.fixture
def port(site: Path) -> Iterator[int]:
    """Port of a server of the site."""
    with open_server(site, LOOPBACK, 0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield int(server.server_address[1])
        server.shutdown()


def ask(port: int, path: str = "/", host: str = "localhost") -> tuple[int, str]:
    """Status and text of an answer."""
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=10)
    connection.request("GET", path, headers={"Host": host})
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text


@pytest.mark.fault(
    "hostile text",
    tried="another page or machine that asks for the preview",
    holds="refused, unless `--address` allows the machine",
)
def test_a_request_that_names_another_host_is_refused(port: int) -> None:
    for host in ("localhost", f"localhost:{port}", f"127.0.0.1:{port}", "[::1]:80"):
        assert ask(port, host=host) == (200, "the site")
    for host in (
        "evil.example",
        f"evil.example:{port}",
        "localhost.evil.example",
        "127.0.0.1.nip.io",
        "",
    ):
        status, text = ask(port, host=host)
        assert status == 403
        assert "the site" not in text


def test_nothing_but_the_files_of_the_site_is_served(port: int) -> None:
    for path in ("/../secret", "/%2e%2e/secret", "/data/", "/data/../../secret", "//etc/passwd"):
        status, text = ask(port, path)
        assert status == 404, path
        assert "secret" not in text.partition("<p>")[0]


def test_only_the_loopback_address_is_listened_on(site: Path, tmp_path: Path) -> None:
    (tmp_path / "asv.conf.json").write_text('{"version": 1, "repo": ".", "html_dir": "html"}')
    command = [sys.executable, "-m", "asv_watch.cli", "preview"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        address = process.stdout.readline().split()[0]
        assert address.startswith("http://127.0.0.1:")
        number = int(address.rstrip("/").rpartition(":")[2])
        assert ask(number) == (200, "the site")
        with socket.socket() as elsewhere:  # another address of this machine: all of 127 are
            assert elsewhere.connect_ex(("127.0.0.2", number)) != 0
    finally:
        os.kill(process.pid, signal.SIGINT)
        process.communicate(timeout=20)
    assert process.returncode == 0


def test_what_cannot_be_served_is_one_line(
    site: Path,
    port: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "asv.conf.json").write_text('{"version": 1, "repo": ".", "html_dir": "html"}')
    for arguments, message in (
        (["--port", str(port)], "choose another --port"),
        (["--address", "no such host"], "choose another --port or --address"),
        (["--address", "x" * 300], "choose another --port or --address"),
        (["--port", "70000"], "--port"),
    ):
        assert main(["preview", *arguments]) in {1, 2}
        printed = capsys.readouterr().err
        assert message in printed
        assert printed.count("\n") == 1
    (site / "index.html").unlink()
    assert main(["preview"]) == 1
    assert "holds no site; publish one first" in capsys.readouterr().err
