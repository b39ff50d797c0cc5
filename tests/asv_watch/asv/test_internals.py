"""An asv that lacks something private that we use is refused; the list of it is complete."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from asv_watch.asv import internals
from asv_watch.errors import WatchError

_OWN = "src/asv_watch/asv"
_OLD_PLUGIN = "src/torchspeed/watch.py"
"""Is loaded by asv alone, and refuses with asv's error."""


def _split(path: str) -> tuple[object, str]:
    owner_path, _, name = path.rpartition(".")
    return internals._resolve(owner_path), name


def test_the_installed_asv_has_everything() -> None:
    internals.verify()


@pytest.mark.parametrize("path", [*internals.REPLACED, *internals.CALLED])
def test_a_function_that_is_gone_or_takes_other_arguments_is_named(
    monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    def changed(unknown: int) -> None: ...

    owner, name = _split(path)
    with monkeypatch.context() as patch:
        patch.setattr(owner, name, changed)
        with pytest.raises(WatchError, match=rf"{path} takes \(unknown\)"):
            internals.verify()
    if name != "__init__":  # every class has one
        monkeypatch.delattr(owner, name)
        with pytest.raises(WatchError, match=f"there is no {path}"):
            internals.verify()


@pytest.mark.parametrize(
    ("path", "name"),
    [(path, name) for path, names in internals.ATTRIBUTES.items() for name in names.split()],
)
def test_an_attribute_that_is_not_set_any_more_is_named(
    monkeypatch: pytest.MonkeyPatch, path: str, name: str
) -> None:
    def sets_others(self: object) -> None: ...

    monkeypatch.setattr(internals._resolve(path), "__init__", sets_others)
    with pytest.raises(WatchError, match=rf"{path}(\.__init__ takes| has no attribute)"):
        internals.verify()


@pytest.mark.parametrize("path", internals.CONSTANTS)
def test_a_constant_that_is_gone_is_named(monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    monkeypatch.delattr(*_split(path))
    with pytest.raises(WatchError, match=f"there is no {path}"):
        internals.verify()


def test_every_private_name_of_asv_that_is_used_is_listed(root: Path) -> None:
    listed = {path.rpartition(".")[2] for path in (*internals.REPLACED, *internals.CALLED)}
    listed |= {"_replace"}  # public, of named tuples
    listed |= {name for names in internals.ATTRIBUTES.values() for name in names.split()}
    used: dict[str, str] = {}
    for path in (root / _OWN).glob("*.py"):
        nodes = list(ast.walk(ast.parse(path.read_text())))
        own = {node.name for node in nodes if isinstance(node, ast.FunctionDef)} | {
            node.attr
            for node in nodes
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
        }
        for node in nodes:
            if isinstance(node, ast.Attribute) and re.match("_[a-z]", node.attr):
                used[node.attr] = f"{path.name}:{node.lineno}"
        used = {name: place for name, place in used.items() if name not in own}
    assert {name: place for name, place in used.items() if name not in listed} == {}


def test_asv_is_imported_in_one_package_only(root: Path) -> None:
    importing = set()
    for folder in ("src", "tools", "benchmarks"):
        for path in (root / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                names = []
                if isinstance(node, ast.Import):
                    names = [alias.name for alias in node.names]
                elif isinstance(node, ast.ImportFrom):
                    names = [node.module or ""]
                if any(name.split(".")[0] == "asv" for name in names):
                    importing.add(path.relative_to(root))
    importing.remove(Path(_OLD_PLUGIN))
    assert {path.parent.as_posix() for path in importing} == {_OWN}
