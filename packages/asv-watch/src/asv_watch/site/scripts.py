"""Data as small scripts that register themselves, safe for text from outside.

A page opened from disk may not fetch, and a strict content-security policy
forbids inline scripts, so each data file is a script that calls one function,
which works everywhere.
"""

from pathlib import Path
from typing import Any

import msgspec

Json = dict[str, Any]

# JSON is not a subset of script source: `</script>`, `<!--` and the two line
# separators of Unicode mean something there. Inside a JSON string each may be
# written as an escape, and outside strings none of them occurs.
_ESCAPES = (
    (b"<", b"\\u003c"),
    (b">", b"\\u003e"),
    (b"&", b"\\u0026"),
    ("\u2028".encode(), b"\\u2028"),
    ("\u2029".encode(), b"\\u2029"),
)


def json_bytes(data: Any) -> bytes:
    """Write `data` as JSON that is safe inside a script; non-finite numbers become null.

    Text that is not valid Unicode (a lone surrogate of an undecodable commit
    message) is replaced character by character.
    """
    try:
        text = msgspec.json.encode(data)
    except UnicodeEncodeError:
        text = msgspec.json.encode(_encodable(msgspec.to_builtins(data)))
    for plain, escaped in _ESCAPES:
        text = text.replace(plain, escaped)
    return text


def script(name: str, content: bytes) -> bytes:
    """Return a script file that registers JSON under `name`."""
    return b"asvWatch.register(" + json_bytes(name) + b"," + content + b");\n"


def write_script(site: Path, name: str, data: Any) -> bytes:
    """Write the script that registers `data` below the folder ``data`` of a site.

    Returns:
        The data as JSON.
    """
    path = site / "data" / f"{name}.js"
    path.parent.mkdir(parents=True, exist_ok=True)
    content = json_bytes(data)
    path.write_bytes(script(name, content))
    return content


def shortened(value: float) -> float:
    """Round a value to five significant digits: further ones would only show noise."""
    return float(f"{value:.5g}")


def _encodable(data: Any) -> Any:
    if isinstance(data, str):
        return data.encode("utf-8", "replace").decode("utf-8")
    if isinstance(data, dict):
        return {_encodable(key): _encodable(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [_encodable(value) for value in data]
    return data
