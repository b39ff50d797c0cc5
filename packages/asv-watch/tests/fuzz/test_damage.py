"""Every file and option, damaged at random: a status, one line, no traceback, no waiting.

Commands run in a project with stored results, where no environment can be made: each of them
reads its options and files, and none measures anything. ``FUZZ_EXAMPLES=5000 make fuzz`` tries
more than the suite does.
"""

import contextlib
import io
import itertools
import json
import os
import re
import shutil
import tempfile
from copy import deepcopy
from pathlib import Path
from typing import Any
from unittest import mock

import msgspec
import pytest
import typer
from hypothesis import example, given, settings
from hypothesis import strategies as st

from asv_watch.asv.declared import Declared, SuiteEntry
from asv_watch.cli.main import app, main
from asv_watch.comparison import Kind
from asv_watch.errors import ExitStatus
from asv_watch.records.labels import Layout
from asv_watch.records.store import EXPLANATIONS, append_lines
from asv_watch.text.terminal import printable
from tests.conftest import commit
from tests.generator import TIME_AND_MEMORY, Suite, generate, small_plan
from tests.planted_comparisons import (
    case_values,
    compared_cases,
    compared_commits,
    compared_releases,
    explained_releases,
    store,
)
from tests.torchless import CONFIGURATION, project_files

fuzz = settings(max_examples=int(os.environ.get("FUZZ_EXAMPLES", "25")))
CASE = "suite.S.time_forward(1)"
PYTHON = CONFIGURATION["pythons"][0]
PINS = {"torch": "2.15.0", "torchvision": "0.29.2"}
SETTINGS: dict[str, Any] = {
    "matrix": {},
    "include": [{"python": PYTHON, "req": PINS, "env_nobuild": {"OMP_NUM_THREADS": "1"}}],
    "exclude": [{"req": {"torch": None}}],
    "measured_paths": ["benchmarks", "src"],
    "default_benchmark_timeout": 60.0,
    "suites": {
        "suite": {"position": 1, "short": {"size": [1]}, "may_fork": True, "threshold": "5%"},
        "suite.S": {"ignore": "It is too noisy."},
    },
    "preload": ["json"],
    "preload_for": {"csv": "time_"},
    "fork_safe_from": {"torch": "2.0"},
    "gpu_cases": "'cuda",
    "environment_gib": 0.01,
    "import_timeout": 600,
    "clock": "process",
    "reference": "HEAD~1",
    "oldest_commit": "100",
    "releases": {"torch": ["2.15.0", {"torch": "2.14.1", "torchvision": "0.29.1"}]},
    "release_cases": "time_",
    "night_cases": "time_",
    "machines": ["desk"],
    "layout": {
        "rows": "size",
        "columns": ["pass"],
        "words": {"pass": ["forward", "backward"]},
        "labels": {"kind": {"suite": "small"}},
        "spelling": {"forward": "FORWARD"},
        "operators": {"*cold*": "cold start"},
        "callers": {"inner_product": ["*cold*"]},
        "operator_prefixes": ["aten::"],
        "levels": {"slow": "time_forward", "fast": "time_backward"},
        "in_words": {"forward": "forward pass"},
    },
    "facts_script": "facts.py",
    "profiler": "profiler.py",
    "published_values": "published.json",
    "about": ["A sentence."],
    "site_url": "https://example.org",
}
PUBLISHED = [{"case": CASE, "seconds": 1.0, "source": "a"}]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with a file of every kind, all sound, in which no environment can be made."""
    suite = Suite("suite.S", TIME_AND_MEMORY[:3], {"size": (1, 2)})
    plan = small_plan(8, suites=(suite,), machines=("desk",), failures=0.1, tag_every=4)
    made = generate(tmp_path_factory.mktemp("fuzz"), plan)
    body = "".join(f"    def {name}(self, size): ...\n" for name, *_ in suite.functions)
    classes = f"class S:\n    params = [1, 2]\n    param_names = ['size']\n{body}"
    files = project_files(classes, **SETTINGS)
    files |= {"facts.py": "", "profiler.py": "", "src/package.py": ""}
    files["published.json"] = json.dumps(PUBLISHED)
    commit(made.repository, files, "Add suites")
    kinds: tuple[Kind, ...] = ("compare", "reference", "confirm", "null", "planted", "bisect")
    for kind, sides in zip(kinds, itertools.pairwise(made.hashes), strict=False):
        store(made.results, compared_commits(sides, {CASE: 1.2}, kind=kind, machine="desk"))
    both = CASE, "suite.S.time_backward(1)"
    store(made.results, compared_cases(both, (0.002, 0.001), machine="desk"))
    values = (case_values("suite.S.peakmem_forward(1)", 1e6, 2e6),)
    releases = "2.14.1", "2.15.0"
    store(made.results, compared_releases(*releases, {CASE: 1.2}, machine="desk", values=values))
    explained = explained_releases(*releases, CASE, "aten::mm", (1.0, 1.2))
    append_lines(made.results / "desk" / EXPLANATIONS, [explained])
    attempt = {"task": f"{made.hashes[0]} e", "at": 1, "suites": "s", "failed": "why"}
    append_lines(made.results / "desk/attempts.jsonl", [attempt])
    shutil.copy(made.results / "benchmarks.json", made.results / "desk/benchmarks.json")
    (made.results / "notes.toml").write_text(
        f'[[change]]\ncommit = "{made.hashes[6]}"\nkind = "expected"\ntext = "So be it"\n'
    )
    made.results.rename(made.repository / "results")
    status, printed = _runs(made.repository, "publish")  # it keeps what it found
    assert status is ExitStatus.DONE, printed
    return made.repository


def test_every_key_is_there_to_be_damaged() -> None:
    def names(struct: type[msgspec.Struct]) -> set[str]:
        return {field.encode_name for field in msgspec.structs.fields(struct)}

    assert names(Declared) <= set(SETTINGS)
    assert names(Layout) == set(SETTINGS["layout"])
    assert names(SuiteEntry) == {key for entry in SETTINGS["suites"].values() for key in entry}


def _runs(folder: Path, *arguments: str) -> tuple[ExitStatus, str]:
    """Run a command, which answers as every command has to; return what it prints too."""
    variables = {
        "GIT_ALLOW_PROTOCOL": "file",
        "GIT_TERMINAL_PROMPT": "0",
        "HOME": str(folder),
        "VIRTUALENV_CREATOR": "none",
    }
    printed, errors = io.StringIO(), io.StringIO()
    with (
        contextlib.chdir(folder),
        # Options such as -E stay in the environment of the process: that of the next test too.
        mock.patch.dict(os.environ, variables),
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(errors),
    ):
        status = ExitStatus(main(list(arguments)))
    lines = errors.getvalue().splitlines()
    if status in {ExitStatus.FAILED, ExitStatus.WRONG_REQUEST} and lines:
        assert lines[-1].startswith("asv-watch: ")
        assert lines[-1] == printable(lines[-1])
    return status, printed.getvalue() + errors.getvalue()


ODD_VALUES: tuple[Any, ...] = (
    *(None, True, 0, -1, 10**400, 2**63, 1e308, -0.0, float("nan"), float("inf"), "", "x" * 5000),
    *("\0", "\ud800", "\u202e", "../../x", "=1+1", [], {}, [[]], [None], {"": None}),
)
JUNK = (b"\n", b"{", b"]", b"NaN", b"\\ud800", b"[" * 3000, b"\0" * 9, b"1e999")


@st.composite
def _damaged(draw: st.DrawFn, content: bytes) -> bytes:
    """Contents that differ from a sound one in a few bytes, or in a few values of its JSON."""
    lines = [content] if _parses(content) else content.splitlines()
    index = draw(st.integers(0, max(0, len(lines) - 1)))
    if draw(st.booleans()) and lines and _parses(lines[index]):
        stored = json.loads(lines[index])
        for _ in range(draw(st.integers(1, 3))):
            _damage(draw, stored)
        lines[index] = json.dumps(stored).encode()
        return b"\n".join(lines)
    begin = draw(st.integers(0, len(content)))
    end = draw(st.integers(begin, min(len(content), begin + 40)) | st.just(len(content)))
    return content[:begin] + draw(st.binary(max_size=8) | st.sampled_from(JUNK)) + content[end:]


def _damage(draw: st.DrawFn, stored: Any) -> None:
    """Replace, remove, rename or repeat one value, at any depth."""
    while isinstance(stored, dict | list) and stored:
        keys = list(stored) if isinstance(stored, dict) else list(range(len(stored)))
        key = draw(st.sampled_from(keys))
        if isinstance(stored[key], dict | list) and stored[key] and draw(st.integers(0, 3)):
            stored = stored[key]
            continue
        way = draw(st.integers(0, 3))
        if way == 0:
            del stored[key]
        elif way == 1 and isinstance(stored, dict):
            stored[draw(st.sampled_from(["", "version", "\ud800", f"{key}x"]))] = stored.pop(key)
        elif way == 2 and isinstance(stored, list):
            stored.insert(key, deepcopy(stored[key]))
        else:
            stored[key] = deepcopy(draw(st.sampled_from(ODD_VALUES)))
        return


def _parses(content: bytes) -> bool:
    try:
        return isinstance(json.loads(content), dict | list)
    except (ValueError, RecursionError):
        return False


@fuzz
@given(data=st.data())
def test_a_damaged_file_is_left_out_or_refused(project: Path, data: Any) -> None:
    kinds: dict[str, str] = {}
    files = [file for place in ("results", ".asv") for file in project.glob(f"{place}/**/*")]
    for path in sorted(filter(Path.is_file, [*files, *project.glob("*.json")])):
        kind = re.sub(r"\d+T\d+|[0-9a-f]{8}(-virtualenv.*?(?=\.[a-z]))?", "", path.name)
        kinds[kind] = str(path.relative_to(project))  # the last of each kind
    name = data.draw(st.sampled_from(sorted(kinds.values())))
    command = data.draw(st.sampled_from(["publish", "report", "bench", "nightly", "releases"]))
    with tempfile.TemporaryDirectory() as made:
        folder = Path(shutil.copytree(project, Path(made, "project"), symlinks=True))
        content = data.draw(_damaged((folder / name).read_bytes()))
        (folder / name).write_bytes(content)
        _, faults = _runs(folder, "results", "check")
        if name.startswith("results/desk/") and name.endswith(".json") and not _parses(content):
            named = [line for line in faults.splitlines() if f"{name}: " in line]
            assert any("no record" not in line for line in named), faults
        _runs(folder, command)


# "\udcff" is what Python makes of a byte that is no UTF-8; other halves of characters cannot come
# from a command line.
ODD_TEXTS = (
    *("", " ", "-", "--", "0", "-1", "１", "٣%", "1e400", "nan", "inf", "9" * 400, "4h\n", "3%"),
    *("\x1b[2J", "\udcff", "\u202e", "=1+1", "'", '"', "$(id)", "`id`", ";", "%s", "{}", "\\"),
    *("/", "..", "/dev/null", "/proc/self/mem", "~", "x" * 5000, "a/" * 2000, "^HEAD", "HEAD~99"),
    *("@{u}", "HEAD@9.9", "main..main", ":/", "--all", "-h", "HEAD^{tree}", "HEAD@newest", "3.99"),
    *("HEAD@all", "./python", "/bin/false", "[", "(" * 3000, "a{99999999999}", "(a+)+$", "\\1"),
    *("http://[::1", "https://", "file:///", "http://x\n/", "2/5", "0/0", "1/9999999", "newest"),
    *("9999-99-99", "0001-01-01", "2026-11-26T25:00", "conda:3.99", "virtualenv:same"),
    *("asv.conf.json", "HEAD", "HEAD~1", "v0.0.0", "desk", "20", "2026-11-26", "results"),
)
TEXTS = st.sampled_from(ODD_TEXTS) | st.text(max_size=20).filter(lambda text: "\0" not in text)


@st.composite
def _command_lines(draw: st.DrawFn) -> list[str]:
    """A command with some options, flags and arguments."""
    name, command = draw(st.sampled_from(list(typer.main.get_group(app).commands.items())))
    words = [name, *(["check"] if name == "results" else [])]
    with command.make_context(name, [], resilient_parsing=True) as context:
        parameters: list[Any] = list(context.command.params)
    options = [p for p in parameters if p.param_type_name == "option"]
    for option in draw(st.lists(st.sampled_from(options), max_size=3)) if options else ():
        words.append(option.opts[0] if option.is_flag else f"{option.opts[0]}={draw(TEXTS)}")
    return [*words, *draw(st.lists(TEXTS, max_size=2))]


@fuzz
@given(arguments=_command_lines())
@example(["nightly"])
@example(["releases", "--machine=/"])
def test_odd_options_are_answered(project: Path, arguments: list[str]) -> None:
    with tempfile.TemporaryDirectory() as made:
        folder = Path(shutil.copytree(project, Path(made, "project"), symlinks=True))
        _runs(folder, *arguments)
