"""The keys of asv.conf.json that asv ignores: what a project declares to this package."""

import difflib
import re
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any

import asv.config
import msgspec

from asv_watch.asv.selection import Selection, case_pattern
from asv_watch.comparison import Clock
from asv_watch.errors import WatchError
from asv_watch.records.labels import UNDECLARED, Layout


class SuiteEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a project declares about a suite; omitted entries keep the suite's own values."""

    position: int | msgspec.UnsetType = msgspec.UNSET
    """Position on the site: 0 first, 9 last; equal ones are sorted by name; 5 by default."""
    short: bool | dict[str, list[Any]] | msgspec.UnsetType = msgspec.UNSET
    """Whether its cases belong to the short set, all or those with these values of parameters."""
    may_fork: bool | msgspec.UnsetType = msgspec.UNSET
    """Whether its ``track_*`` give the same value in a fork, which starts sooner."""
    threshold: str | msgspec.UnsetType = msgspec.UNSET
    """Smallest slowdown that fails the gate, such as ``5%``; empty for the general threshold."""
    ignore: str | msgspec.UnsetType = msgspec.UNSET
    """Why the gate leaves its cases out; the reason is shown."""


class Declared(msgspec.Struct, frozen=True):
    """What a project declares, by the names of its keys.

    No text has a pattern here: msgspec 0.22 crashes where such a text is part of a union.
    """

    suites: dict[str, SuiteEntry] = {}
    """Maps a module, class or function of benchmarks to its entry; later ones win."""
    preload: tuple[str, ...] = ()
    """Modules that a process imports once, before cases are forked from it."""
    preload_for: dict[str, str] = {}
    """Maps a module to the regular expression of the cases for which it is imported too, so that
    others need not wait for it."""
    fork_safe_from: dict[str, str] = {}
    """Maps a requirement to its first release whose forked processes are as fast as others."""
    gpu_cases: str = ""
    """Regular expression of the cases that use a GPU; empty for none. Such a case never
    runs in a process that forks, and has the GPU's memory to itself."""
    facts_script: Path | None = None
    """Prints what else can change a value, as JSON: ``{"facts": {…}, "details": {…}}``."""
    profiler: Path | None = None
    """Prints the operators of one case, as JSON (`asv_watch.explain`)."""
    measured_paths: tuple[str, ...] = ()
    """What can change a measured value: nothing outside these files and folders runs in a measured
    process; everything may if it is empty."""
    environment_gib: Annotated[float, msgspec.Meta(ge=0, le=10_000)] = 0.25
    """Disk space that a new environment takes."""
    default_benchmark_timeout: Annotated[float, msgspec.Meta(gt=0, le=86_400)] = 60.0
    """Timeout of a case whose suite names none, in seconds; asv's own entry."""
    import_timeout: Annotated[float, msgspec.Meta(gt=0, le=86_400)] = 300.0
    """Seconds in which a suite has to be imported."""
    clock: Clock = ""
    """``process`` measures CPU time in suites with asv's default timer, for machines that other
    work shares and benchmarks of one thread."""
    reference: str = ""
    """What every commit is measured against, ``COMMIT@RELEASE``; empty if none is named."""
    oldest_commit: str = ""
    """How far nights go back: to a commit, to a date, or for a number of commits; empty for the
    branch's first commit."""
    releases: dict[str, list[str | dict[str, str]]] = {}
    """Maps a requirement to those of its releases that are compared, the newest first; each alone,
    or with the releases of other packages that it needs and the range of its ``python``."""
    release_cases: str = ""
    """Regular expression of the cases that releases are compared with; of these, only cases of the
    short set are measured."""
    night_cases: str = ""
    """Regular expression of cases that nights measure of each newest commit, after those of the
    short set, and that releases are compared with too; empty for none."""
    machines: tuple[str, ...] = ()
    """Machines that may have results here; empty if any may."""
    published_values: Path | None = None
    """File with values that others published."""
    layout: Layout = UNDECLARED
    """What rows and columns of the site's tables stand for."""
    about: tuple[str, ...] = ()
    """Sentences on how the project measures, for the page about the data."""
    site_url: str = ""
    """Address where the site will be served: ``https://`` or ``http://``."""

    def describe(self, benchmark: dict[str, Any]) -> dict[str, Any]:
        """Return an entry of asv's list of benchmarks with what is declared of its suite."""
        for name, suite in self.suites.items():
            if f"{benchmark['name']}.".startswith(f"{name}."):
                benchmark = benchmark | msgspec.to_builtins(suite)
        return benchmark

    def gate_exceptions(self) -> Iterator[str]:
        """Say which suites the gate ignores, and which have a threshold of their own."""
        for name, suite in self.suites.items():
            if suite.ignore:
                yield f"The gate ignores {name}: {suite.ignore}."
            if suite.threshold:
                yield f"The gate fails if a case of {name} is slower by {suite.threshold} or more."

    @property
    def cases_of_releases(self) -> Selection:
        """The cases that releases are compared with unless others are asked for."""
        return Selection(self.release_cases, short=True, also=self.night_cases)

    def uses_gpu(self, case: str) -> bool:
        """Tell whether a case uses a GPU."""
        return bool(self.gpu_cases and case_pattern(self.gpu_cases).search(case))

    def preloaded_for(self, cases: Iterable[str]) -> tuple[str, ...]:
        """Return the modules that a process imports before these cases are forked from it."""
        names = list(cases)
        matching = [
            module
            for module, text in self.preload_for.items()
            if any(map(case_pattern(text).search, names))
        ]
        return (*self.preload, *matching)


_ASV_KEYS = frozenset(
    {*vars(asv.config.Config()), "version", "build_cache_size", "wheel_cache_size"}
)
"""Keys of asv itself; it fills in those that are not given."""


def read_declared(conf: Any, root: Path) -> Declared:
    """Read asv's settings; files are found from the folder of asv.conf.json.

    Raises:
        WatchError: An entry has another type or is unknown, a pattern is not a regular
            expression, or a suite, parameter or word is named that the suites do not have.
    """
    entries = {key: value for key, value in vars(conf).items() if value != ""}
    known = _ASV_KEYS.union(Declared.__struct_fields__)
    for key in entries:
        if key not in known and not key.startswith(("_", "$")):
            raise WatchError(
                f"asv.conf.json has the unknown key {key!r}{_suggest(key, known)}; correct or "
                "remove it"
            )
    try:
        declared = msgspec.convert(entries, Declared, dec_hook=lambda _, text: root / text)
    except msgspec.ValidationError as error:
        raise WatchError(f"asv.conf.json cannot be read ({error}); correct it") from error
    if declared.site_url and not re.match(r"https?://\S", declared.site_url):
        raise WatchError(
            f'"site_url" of asv.conf.json is {declared.site_url!r}; give an address that begins '
            "with https:// or http://"
        )
    for key in ("gpu_cases", "release_cases", "night_cases", "preload_for"):
        texts = getattr(declared, key)
        for text in texts.values() if isinstance(texts, dict) else [texts]:
            case_pattern(text, f'"{key}" of asv.conf.json')
    _check_names(declared, root / conf.benchmark_dir)
    return declared


def _check_names(declared: Declared, suites: Path) -> None:
    named = list(_names_of_suites(declared.layout, declared.suites))
    files = sorted(suites.rglob("*.py")) if named else []
    text = "\n".join(file.read_text(encoding="utf-8", errors="replace") for file in files)
    words = set(re.findall(r"\w+", text))
    if not words:
        return
    modules = {path.stem for path in suites.glob("*") if path.suffix == ".py" or path.is_dir()}
    for key, name, is_module in named:
        # Suites may put a name together from parts, so any part of the text will do.
        is_known = name in modules | words if is_module else name in text
        if not is_known:
            raise WatchError(
                f"{key} of asv.conf.json names {name!r}, which no suite in {suites} "
                f"has{_suggest(name, modules if is_module else words)}; correct or remove it"
            )


def _names_of_suites(layout: Layout, suites: Collection[str]) -> Iterator[tuple[str, str, bool]]:
    named = [('"suites"', suite) for suite in suites]
    named += [('"labels"', suite) for values in layout.labels.values() for suite in values]
    for key, suite in named:
        for index, part in enumerate(filter(None, suite.split("."))):
            yield key, part, index == 0
    for values in layout.words.values():
        for word in values:
            yield '"words"', word, False
    labels = {*layout.words, *layout.labels, "metric", ""}
    for key, name in (('"rows"', layout.rows), *(('"columns"', name) for name in layout.columns)):
        if name not in labels:
            yield key, name, False


def _suggest(name: str, known: Collection[str]) -> str:
    """Ask whether a similar name was meant; empty if there is none."""
    similar = difflib.get_close_matches(name, known, n=1)
    return f" (did you mean {similar[0]!r}?)" if similar else ""
