"""An asv that lacks something private that we use is refused; the list of it is complete."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from asv_watch.asv import internals
from asv_watch.errors import WatchError

_OWN = "src/asv_watch/asv"


def _split(path: str) -> tuple[object, str]:
    owner_path, _, name = path.rpartition(".")
    return internals._resolve(owner_path), name


def test_the_installed_asv_has_everything() -> None:
    internals.verify()


def _assert_refused(message: str) -> None:
    with pytest.raises(WatchError, match=message):
        internals.verify()


def test_what_is_gone_or_takes_other_arguments_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """One function, one attribute and one constant stand for all that are listed."""

    def changed(unknown: int) -> None: ...

    def sets_others(self: object) -> None: ...

    function = next(path for path in internals.CALLED if not path.endswith("__init__"))
    with monkeypatch.context() as patch:
        patch.setattr(*_split(function), changed)
        _assert_refused(rf"{function} takes \(unknown\)")
        patch.delattr(*_split(function))
        _assert_refused(f"there is no {function}")
    owner = next(iter(internals.ATTRIBUTES))
    with monkeypatch.context() as patch:
        patch.setattr(internals._resolve(owner), "__init__", sets_others)
        _assert_refused(rf"{owner}(\.__init__ takes| has no attribute)")
    constant = next(iter(internals.CONSTANTS))
    monkeypatch.delattr(*_split(constant))
    _assert_refused(f"there is no {constant}")


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
