"""The preview: who can see the site, and the message where there is none."""

from __future__ import annotations

import signal
import socket
import struct
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import psutil
import pytest

from tests.conftest import ROOT

INTERRUPTIBLE = """
import signal, sys
from asv_watch.cli.main import main
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
sys.exit(main())
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / "asv.conf.json").write_text((ROOT / "asv.conf.json").read_text())
    (tmp_path / "html").mkdir()
    (tmp_path / "html/index.html").write_text("the site")
    return tmp_path


@contextmanager
def _preview(checkout: Path, *arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run the preview on a free port; give the process and the address that it prints."""
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTIBLE, "preview", "--port", "0", *arguments],
        cwd=checkout,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout is not None
        try:
            yield process, process.stdout.readline().split()[0]
        finally:
            process.kill()


def _listens_on(process: subprocess.Popen[str]) -> set[str]:
    connections = psutil.Process(process.pid).net_connections("inet")
    return {
        connection.laddr.ip
        for connection in connections
        if connection.status == psutil.CONN_LISTEN
    }


def test_only_this_machine_sees_the_site_until_it_is_interrupted(checkout: Path) -> None:
    with _preview(checkout) as (process, address):
        assert _listens_on(process) == {"127.0.0.1"}
        with urllib.request.urlopen(address) as answer:  # noqa: S310 - our own
            assert answer.read() == b"the site"
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate()
        assert (process.returncode, errors) == (0, "")


@pytest.mark.fault(
    "hostile web page",
    tried="a page of another site lets its name lead to the preview (DNS rebinding)",
    holds="only addresses, localhost and the name given by --host are answered",
)
def test_another_sites_name_is_refused(checkout: Path) -> None:
    with _preview(checkout) as (_, address):
        port = address.rstrip("/").rpartition(":")[2]
        for host, status in (
            ("evil.example.org", 403),
            (f"evil.example.org:{port}", 403),
            ("", 403),
            (f"127.0.0.1:{port}", 200),
            (f"localhost:{port}", 200),
            ("[::1]:80", 200),
        ):
            assert _get(int(port), "/", host).startswith(f"HTTP/1.0 {status} ".encode()), host


@pytest.mark.fault(
    "hostile web page",
    tried="paths with a null or too long, lines that are not requests, connections that are reset",
    holds="the preview goes on and prints no traceback",
)
def test_nothing_that_is_asked_for_prints_a_traceback(checkout: Path) -> None:
    (checkout / "html/large").write_bytes(bytes(10**7))
    with _preview(checkout) as (process, address):
        port = int(address.rstrip("/").rpartition(":")[2])
        for path in ("/%00", "/%ff", "/..%2f..%2fasv.conf.json", "/" + "x" * 9000, "//", "\0"):
            answer = _get(port, path, "localhost")
            assert b"the site" not in answer or path == "//"
            assert b"benchmark_dir" not in answer
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.sendall(b"GET /large HTTP/1.0\r\nHost: localhost\r\n\r\n")
            connection.recv(10)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        assert b"the site" in _get(port, "/", "localhost")
        process.send_signal(signal.SIGINT)
        assert process.communicate()[1] == ""


def _get(port: int, path: str, host: str) -> bytes:
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(f"GET {path} HTTP/1.0\r\nHost: {host}\r\n\r\n".encode())
        connection.shutdown(socket.SHUT_WR)
        return b"".join(iter(partial(connection.recv, 1 << 16), b""))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--host", "nowhere.invalid"), "nothing can listen on nowhere.invalid port 8080 ("),
        (("--host", "192.0.2.1"), "nothing can listen on 192.0.2.1 port 8080 ("),
    ],
)
def test_an_address_that_cannot_be_had_is_one_line(
    checkout: Path, arguments: tuple[str, ...], message: str
) -> None:
    done = _run(checkout, *arguments)
    assert done.returncode == 1
    assert done.stderr.startswith(f"asv-watch: {message}")
    assert done.stderr.endswith("choose another --host or --port\n")
    assert done.stderr.count("\n") == 1
    done = _run(checkout, "--host", "")
    assert done.stderr.startswith("asv-watch: --host is empty; give")


def test_without_a_site_it_says_how_to_make_one(checkout: Path) -> None:
    (checkout / "html/index.html").unlink()
    done = _run(checkout)
    assert done.returncode == 1
    assert done.stderr.endswith("html holds no site yet; run `asv-watch publish`\n")


def _run(checkout: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "asv_watch.cli", "preview", *arguments],
        cwd=checkout,
        capture_output=True,
        text=True,
        check=False,
    )
