"""With a cache a history is loaded as without one, whatever was edited or damaged meanwhile."""

from __future__ import annotations

import json
import random
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from asv_watch.records import stored_runs
from asv_watch.records.git import read_commits
from asv_watch.records.loading import load_history
from asv_watch.records.records import Commit
from asv_watch.records.run_cache import RunCache
from tests.asv_watch.generator import Generated, Plan, generate

PLAN = Plan(commits=8, samples=2, machines=("desk",), machines_with_cuda=(), failures=0.05)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Generated:
    return generate(tmp_path_factory.mktemp("history") / "it", PLAN)


@pytest.fixture
def results(made: Generated, tmp_path: Path) -> Path:
    return shutil.copytree(made.results, tmp_path / "results")


def loaded(results: Path, commits: tuple[Commit, ...], cache: RunCache | None = None) -> str:
    return repr(replace(load_history(results, commits, cache), notes=None))


def load_through(path: Path, results: Path, commits: tuple[Commit, ...]) -> str:
    cache = RunCache(results, path)
    history = loaded(results, commits, cache)
    cache.write(path)
    return history


def test_files_that_did_not_change_are_not_read_again(
    made: Generated, results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commits = read_commits(made.repository)
    read: list[Path] = []
    original = stored_runs.RunReader.read

    def counting(*arguments: object) -> object:
        read.append(arguments[1])  # type: ignore[arg-type]
        return original(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(stored_runs.RunReader, "read", counting)
    first = load_through(tmp_path / "cache", results, commits)
    read.clear()
    assert load_through(tmp_path / "cache", results, commits) == first
    assert read == []
    edited = min(results.glob("desk/*-*.json"))
    content = json.loads(edited.read_text())
    edited.write_text(json.dumps(content, indent=1))
    assert load_through(tmp_path / "cache", results, commits) == first
    assert read == [edited]


@pytest.mark.parametrize("seed", range(4))
def test_after_any_edits_the_history_is_that_without_a_cache(
    made: Generated, results: Path, tmp_path: Path, seed: int
) -> None:
    rng = random.Random(seed)  # noqa: S311
    commits = read_commits(made.repository)
    cache = tmp_path / "cache"
    for _ in range(8):
        assert load_through(cache, results, commits) == loaded(results, commits)
        path = rng.choice(sorted(path for path in results.rglob("*") if path.is_file()))
        edit = rng.choice(["digit", "bytes", "remove", "copy", "note", "branch", "cache", "huge"])
        content = bytearray(path.read_bytes())
        if edit == "digit":
            digits = [at for at, byte in enumerate(content) if byte in b"123456789"]
            content[rng.choice(digits or [0])] = rng.choice(b"123456789")
        elif edit == "bytes" and path.name != "benchmarks.json":
            content[rng.randrange(len(content))] = rng.randrange(256)
        elif edit == "huge" and path.name != "benchmarks.json":
            content = content.replace(b"[", b"[" + b"9" * 30 + b", ", rng.randrange(20))
        path.write_bytes(content)
        if edit == "remove" and path.name != "benchmarks.json":
            path.unlink()
        elif edit == "copy":
            shutil.copy(path, path.with_name(f"1{path.name}"))
        elif edit == "note":
            recipe = f"[[recipe]]\nrecipe = 'rounds={rng.randrange(9)}'\nreason = 'it was so'\n"
            (results / "notes.toml").write_text(recipe)
        elif edit == "branch":
            commits = tuple(commit for commit in commits if rng.random() < 0.9)
        elif edit == "cache":
            damaged = bytearray(cache.read_bytes())
            damaged[rng.randrange(len(damaged))] ^= 1 << rng.randrange(8)
            cache.write_bytes(damaged)
