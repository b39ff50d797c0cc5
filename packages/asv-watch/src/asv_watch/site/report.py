"""A text for each change: Markdown for an issue, or plain text for an e-mail."""

from collections.abc import Callable, Sequence
from typing import Literal

from asv_watch.asv.selection import pattern_of
from asv_watch.judge.changes import Change
from asv_watch.site import names
from asv_watch.site.change_data import cause, commits_of, size
from asv_watch.site.contents import Contents
from asv_watch.statistics.ratio import CONFIDENCE
from asv_watch.text import quantities
from asv_watch.text.terminal import code
from asv_watch.versions.version import Release

Markup = Literal["markdown", "text"]


def write_report(contents: Contents, changes: Sequence[Change], markup: Markup) -> str:
    """Describe each change: its case, first commit, size, certainty and cause."""
    return "\n\n".join(_finding(contents, change, markup) for change in changes)


def _finding(contents: Contents, change: Change, markup: Markup) -> str:
    history = contents.history
    series = history.series[change.series]
    commit = history.commits[change.commit]
    release = history.environments[series.environment].release
    environment = names.short_labels(history.environments.values())[series.environment]
    quoted = code if markup == "markdown" else str
    case = quoted(contents.cases.title(series.case.name))
    title = f"{case}: {change.verdict.value}, {size(change)}"
    before, after = (quantities.quantity(value, series.unit) for value in change.values)
    facts = {
        "What": f"{quoted(series.case.name)} on {quoted(series.machine)}, {quoted(environment)}: "
        f"{before} before, {after} after",
        "Since": f"{_since(contents, change, quoted)}, {quantities.day(commit.date)}",
        "How certain": _certainty(change),
        "Commit": _culprit(contents, change),
        "Cause": quoted(cause(change, contents)),
        "Reproduce": quoted(_command(contents, change, release)),
    }
    if markup == "markdown":
        rows = [f"- **{name}**: {text}" for name, text in facts.items()]
        return f"### {title}\n\n" + "\n".join(rows)
    width = max(map(len, facts)) + 2
    return "\n".join([title, *(f"  {f'{name}:':{width}}{text}" for name, text in facts.items())])


def _since(contents: Contents, change: Change, quoted: Callable[[str], str]) -> str:
    """Name the commit that made a change, or the last of those that may have."""
    commit = contents.history.commits[change.commit]
    count = len(commits_of(change, contents)[2])
    if count > 1:
        return f"one of {count} commits up to {commit.hash[:8]}, not bisected"
    return f"{commit.hash[:8]} ({quoted(' '.join(commit.subject.split()))})"


def _certainty(change: Change) -> str:
    if not change.may_be_code:
        return "suspected from separate runs; not compared, because no comparison can show it"
    if not change.is_measured:
        return "suspected from separate runs; nights compare the two commits"
    if change.compared is None:
        return "exact"
    way = "with each other" if change.compared.sittings else "through other commits"
    confidence = quantities.share(CONFIDENCE)
    return f"the two commits were compared {way}, interleaved; {confidence} interval"


def _culprit(contents: Contents, change: Change) -> str:
    before, after, suspects = commits_of(change, contents)
    if len(suspects) == 1:
        return suspects[0][:8]
    count = contents.history.positions[after] - contents.history.positions[before]
    of_count = "" if count == len(suspects) else f" that change what is measured, of {count}"
    log = f"git log --oneline {before[:8]}..{after[:8]}"
    return f"one of {len(suspects)}{of_count} (not bisected): {log}"


def _command(contents: Contents, change: Change, release: Release) -> str:
    series = contents.history.series[change.series]
    pattern = pattern_of(series.case.name)
    chosen = f" --release {release.version}" if release else ""
    if series.unit != "seconds":
        return f"asv-watch bench --cases '{pattern}'{chosen}"
    before, after = (hash_[:12] for hash_ in commits_of(change, contents)[:2])
    return f"asv-watch compare --before {before} --after {after} --cases '{pattern}'{chosen}"
