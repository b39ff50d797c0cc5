"""The asv plugin: `asv publish` builds this site. The one file here that knows asv's internals.

asv loads it as ``"plugins": [".torchspeed.watch.asv.publisher"]`` of asv.conf.json and calls
`setup`, which puts `_publish` around ``Publish.run``. An ``OutputPublisher``, asv's own way to
add a page, is not enough, for asv

- deletes the published site before it reads its first input, and many inputs make it fail;
- gives every publisher a button in its own interface, which needs scripts of the network;
- writes its ``index.json`` after all publishers, over theirs.

So asv publishes into a folder ``asv`` of a fresh site instead, everything else there is ours,
and `swap` puts the whole in place once it is complete. What makes asv fail costs asv's pages
alone. See ``docs/site.md``.
"""

from __future__ import annotations

import copy
import gc
import hashlib
import html
import json
import os
import shutil
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib import metadata
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from asv.commands.publish import Publish
from asv.console import log
from asv.graph import GraphSet
from asv.repo import get_repo
from asv.util import ProcessError, UserError, is_na

from torchspeed.errors import TorchspeedError
from torchspeed.published.figures import site_rows
from torchspeed.watch.history.git import read_commits
from torchspeed.watch.history.records import Commit, History
from torchspeed.watch.site import healthy
from torchspeed.watch.site.beside import beside
from torchspeed.watch.site.swap import MANIFEST, swapped_in

if TYPE_CHECKING:
    from torchspeed.watch.analysis.steps import SeriesStep
    from torchspeed.watch.site.standing import Findings

_ASV_PAGES = "asv"
_WATCH = Path(__file__).parents[1]


def setup() -> None:
    """Put this site around asv's: called by asv when it has loaded the plugin."""
    original = Publish.run.__func__
    if getattr(original, "of_torchspeed", False):
        return

    def run(
        cls: Any, conf: Any, range_spec: str | list[str] | None = None, pull: bool = True
    ) -> int:
        try:
            return _publish(conf, range_spec, pull, asv_publish=lambda *args: original(cls, *args))
        except TorchspeedError as error:
            # asv prints a UserError as one line and exits with status 1.
            raise UserError(str(error)) from error

    run.of_torchspeed = True  # type: ignore[attr-defined]
    Publish.run = classmethod(run)


def _publish(
    conf: Any,
    range_spec: str | list[str] | None,
    pull: bool,
    asv_publish: Callable[[Any, str | list[str] | None, bool], object],
) -> int:
    """Publish to ``conf.html_dir``; the exit status is 1 if anything had to be left out."""
    results, site = Path(conf.results_dir), Path(conf.html_dir)
    repo = get_repo(conf)
    if pull:
        repo.pull()
    commits = read_commits(Path(repo._path), repo.get_branch_name(conf.branches[0]))
    if range_spec is not None:
        hashes = set(_hashes_of(repo, range_spec))
        commits = tuple(commit for commit in commits if commit.hash in hashes)
    inputs = _inputs(conf, commits, results)
    if _is_up_to_date(site, inputs):
        log.info(f"Nothing has changed: the site in {conf.html_dir} is left as it is")
        return 0
    # Every asv command loads this plugin, and numpy and jinja2 take longer to load than it
    # takes to find out that nothing has changed.
    from torchspeed.watch.history.loading import load_history  # noqa: PLC0415
    from torchspeed.watch.site.build import build_site  # noqa: PLC0415
    from torchspeed.watch.site.detect import detect  # noqa: PLC0415
    from torchspeed.watch.site.standing import in_order, standings  # noqa: PLC0415

    generated = _now()
    with swapped_in(site) as fresh:
        history = in_order(load_history(results, commits))
        # A million figures hold no cycles: keep the collector from looking for them.
        gc.freeze()
        findings = detect(history)

        def ours() -> None:
            build_site(
                fresh,
                standings(history, findings),
                generated=generated,
                project=_project(conf),
                published=tuple(site_rows()),
                previous=site,
            )

        with beside(ours), _known_steps(history, findings):
            asv_failure = _publish_asv(conf, range_spec, history, fresh, asv_publish)
        gc.unfreeze()
        complete = not asv_failure and not history.problems
        manifest = {"inputs": inputs if complete else "", "contents": _contents(fresh)}
        (fresh / MANIFEST).write_text(json.dumps(manifest) + "\n", encoding="utf-8")
    log.info(f"The site is in {conf.html_dir}: `asv preview` shows it")
    for reason, count in Counter(one.reason for one in history.left_out).items():
        log.info(f"Left out, as the status page lists: {reason} ({count})")
    for problem in history.problems:
        log.error(f"{problem.path}: {problem.message}")
    if asv_failure:
        log.error(asv_failure)
    if not complete:
        log.error(
            "The site was published without what is named above: mend or remove it "
            "(`git checkout` brings a tracked result file back), then publish again"
        )
    return 0 if complete else 1


def _hashes_of(repo: Any, range_spec: str | list[str]) -> list[str]:
    if isinstance(range_spec, list):
        return range_spec
    try:
        hashes: list[str] = repo.get_hashes_from_range(range_spec)
    except ProcessError as error:
        raise TorchspeedError(
            f"git knows no range {range_spec!r}: give one such as v0.1..main"
        ) from error
    return hashes


def _publish_asv(
    conf: Any,
    range_spec: str | list[str] | None,
    history: History,
    fresh: Path,
    asv_publish: Callable[[Any, str | list[str] | None, bool], object],
) -> str:
    """Let asv build its own pages below ``asv/``; return why they are missing, or nothing."""
    theirs = copy.copy(conf)
    theirs.html_dir = str(fresh / _ASV_PAGES)
    if history.problems:
        view = fresh.parent / "results"
        healthy.write_view(Path(conf.results_dir), view, history.problems)
        theirs.results_dir = str(view)
    try:
        asv_publish(theirs, range_spec, False)
    except OSError:
        raise  # a full disk or the like: nothing of ours would fare better
    except Exception as error:
        # asv names no common class of what its inputs can raise.
        reason = f"asv could not build its own pages ({type(error).__name__}: {error})"
        shutil.rmtree(fresh / _ASV_PAGES, ignore_errors=True)
        (fresh / _ASV_PAGES).mkdir()
        note = f"<!doctype html><title>asv</title><p>{html.escape(reason)}\n"
        (fresh / _ASV_PAGES / "index.html").write_text(note, encoding="utf-8")
        return reason
    return ""


@contextmanager
def _known_steps(history: History, findings: Findings) -> Iterator[None]:
    """Give asv the steps that were found, instead of letting it look for its own.

    asv's pages then tell the same story as ours, and the most expensive part of its
    work (two thirds, on long histories) is not done twice over. A series that asv has
    put together in another way than we did goes through asv's own detector.
    """
    known = {
        tuple(series.values.values()): steps
        for series, steps in zip(history.series, findings.steps, strict=True)
    }
    original = GraphSet.detect_steps

    def detect_steps(graphs: Any, pool: Any = None, dots: Any = None) -> None:
        for _, graph in graphs:
            data = graph.get_data()
            columns = (
                [data]
                if graph.scalar_series
                else [[(at, v[j], w[j]) for at, v, w in data] for j in range(graph.n_series)]
            )
            found = [_steps_in_asvs_form(column, known) for column in columns]
            if data and None not in found:
                graph._steps = found
        original(graphs, pool, dots)

    GraphSet.detect_steps = detect_steps
    try:
        yield
    finally:
        GraphSet.detect_steps = original


def _steps_in_asvs_form(
    column: list[tuple[int, Any, Any]], known: dict[tuple[float, ...], tuple[SeriesStep, ...]]
) -> list[tuple[int, int, float, float, float]] | None:
    """The pieces of one series: revisions from and to, median, least, mean distance.

    Args:
        column: Revision, figure and weight of each of asv's data points.
        known: The figures of a series to its steps.
    """
    points = [(revision, value) for revision, value, _ in column if not is_na(value)]
    steps = known.get(tuple(value for _, value in points))
    if steps is None:
        return None
    pieces = []
    for start, end in pairwise([0, *(one.step.position for one in steps), len(points)]):
        values = [value for _, value in points[start:end]]
        if values:
            level = statistics.median(values)
            off = sum(abs(value - level) for value in values) / len(values)
            pieces.append((points[start][0], points[end - 1][0] + 1, level, min(values), off))
    return pieces


def _project(conf: Any) -> dict[str, str]:
    """What the pages say of the project; asv's ``#`` means that there is no address.

    ``site_url`` is a key of ours in asv.conf.json: where the site will be served.
    """

    def address(text: str) -> str:
        return text if text.startswith(("https://", "http://")) else ""

    site = address(str(getattr(conf, "site_url", "")))
    return {
        "name": str(conf.project),
        "url": address(str(conf.project_url)),
        "commit_url": address(str(conf.show_commit_url)),
        "site": f"{site.rstrip('/')}/" if site else "",
    }


def _now() -> int:
    """Seconds since the epoch, or what ``SOURCE_DATE_EPOCH`` says for reproducible builds."""
    given = os.environ.get("SOURCE_DATE_EPOCH", "")
    return int(given) if given.isdigit() else int(time.time())


def _inputs(conf: Any, commits: tuple[Commit, ...], results: Path) -> str:
    """Digest of everything that the site depends on: results, history, settings and code."""
    state = hashlib.blake2b(digest_size=16)
    settings = {key: value for key, value in vars(conf).items() if key != "html_dir"}
    versions = [f"{name} {metadata.version(name)}" for name in ("asv", "jinja2", "matplotlib")]
    state.update(repr((sorted(settings.items()), commits, versions)).encode("utf-8", "replace"))
    for folder in (_WATCH, results):
        _add_files(state, folder, skip="__pycache__")
    return state.hexdigest()


def _contents(site: Path) -> str:
    """Digest of a published site, names and contents."""
    state = hashlib.blake2b(digest_size=16)
    _add_files(state, site, skip=MANIFEST)
    return state.hexdigest()


def _add_files(state: Any, folder: Path, skip: str) -> None:
    for name in sorted(_files(folder)):
        path = folder / name
        if skip in path.parts or name in {".gitignore"}:
            continue
        content = path.read_bytes()
        state.update(f"{name}\0{len(content)}\0".encode("utf-8", "surrogateescape"))
        state.update(content)


def _files(folder: Path) -> Iterable[str]:
    for root, _, files in os.walk(folder):
        for file in files:
            yield os.path.relpath(os.path.join(root, file), folder)


def _is_up_to_date(site: Path, inputs: str) -> bool:
    """Whether the folder holds, whole and untouched, what these inputs would give."""
    try:
        manifest = json.loads((site / MANIFEST).read_text(encoding="utf-8"))
        return bool(
            manifest["inputs"] == inputs
            and manifest["contents"] == _contents(site)
            and (site / ".gitignore").exists()
        )
    except (OSError, ValueError, TypeError, KeyError):
        return False
