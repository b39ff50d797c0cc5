"""Wheels that tests publish, for a pip that finds them in a folder."""

import base64
import hashlib
import zipfile
from pathlib import Path


def write_wheel(folder: Path, name: str, version: str, code: str, requires: str = "") -> None:
    """Write a wheel of one module."""
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    info = f"{name}-{version}.dist-info"
    files = {
        f"{name}/__init__.py": code,
        f"{info}/METADATA": metadata + (f"Requires-Dist: {requires}\n" if requires else ""),
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = f"{info}/RECORD,,\n"
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as archive:
        for path, text in files.items():
            digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=")
            record += f"{path},sha256={digest.decode()},{len(text)}\n"
            archive.writestr(path, text)
        archive.writestr(f"{info}/RECORD", record)
