"""Texts of the first screen: one headline, and the two lists behind its two pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf, log

from asv_watch.judge.changes import Change
from asv_watch.site.case_table import CaseTable
from asv_watch.site.change_data import Recent, recent_changes
from asv_watch.site.contents import Contents
from asv_watch.site.levels import level_charts
from asv_watch.site.news import news
from asv_watch.site.release_data import summaries_of, summed_up
from asv_watch.site.release_grid import release_grid
from asv_watch.site.scripts import Json
from asv_watch.statistics.rule import TOO_NOISY
from asv_watch.text import quantities
from asv_watch.text.quantities import counted

_WORDS = {
    "time": {"worse": "slower", "better": "faster"},
    "memory": {"worse": "larger in memory", "better": "smaller in memory"},
}
"""Maps kind and verdict of a change to the word in sentences."""


def overview_data(
    contents: Contents, table: CaseTable, main: set[str], published: Sequence[Json] = ()
) -> Json:
    """Return the headline and the two lists of the first screen.

    Args:
        contents: What the site shows.
        table: Names of its cases.
        main: Groups that the summary of releases includes.
        published: Values from the literature, as ``docs/answers.md`` lists them.
    """
    commits = _newest_commits(contents)
    release = _newest_release(contents, table, main)
    sentences = [release["sentence"] if release else "", commits["sentence"]]
    return {
        "headline": " ".join(filter(None, sentences)),
        "news": news(contents, table, main),
        "grid": release_grid(contents, table, main),
        "levels": level_charts(contents, table, published),
        "commits": commits,
        "release": release,
    }


def _newest_commits(contents: Contents) -> Json:
    recent = recent_changes(contents)
    index_of = {id(change): index for index, change in enumerate(contents.findings.changes)}
    lately = [(index_of[id(change)], change) for change in recent.changes]
    measured = [(index, change) for index, change in lately if change.is_measured]
    measured.sort(key=lambda entry: abs(log(entry[1].ratio or inf)), reverse=True)
    return {
        "count": recent.count,
        "compared": recent.compared,
        "sentence": _commits_sentence(contents, recent, [change for _, change in measured]),
        "changes": [index for index, _ in measured],
        "suspected": sum(not change.is_measured and change.may_be_code for _, change in lately),
    }


def _commits_sentence(contents: Contents, recent: Recent, measured: Sequence[Change]) -> str:
    if recent.count < 2:
        return "One commit is measured so far." if recent.count else "Nothing is measured yet."
    newest = f"the newest {counted(recent.count, 'measured commit')}"
    missing = recent.count - recent.compared
    unknown = f" {missing} of them {'was' if missing == 1 else 'were'} not compared."
    parts = [
        f"{counted(count, 'case')} {words}"
        for kind, words_of in _WORDS.items()
        for verdict_word, words in words_of.items()
        if (
            count := sum(
                (change.kind, change.verdict) == (kind, verdict_word) for change in measured
            )
        )
    ]
    detectable = contents.findings.detectable.values()
    smallest = min((of_machine.middle for of_machine in detectable), default=0.0)
    if parts:
        sentence = f"{newest[0].upper()}{newest[1:]} made {quantities.listed(parts)}."
    elif smallest >= TOO_NOISY:
        return (
            f"Too noisy to tell what {newest} changed: nothing below "
            f"{quantities.share(smallest)} would show."
        )
    elif not recent.compared:
        return f"None of {newest} was compared with an earlier one."
    else:
        sentence = f"{newest[0].upper()}{newest[1:]} changed nothing that a comparison could show."
    return sentence + (unknown if missing else "")


def _newest_release(contents: Contents, table: CaseTable, main: set[str]) -> Json | None:
    for history in contents.findings.release_histories:
        step = history.steps[0]
        if step.after != history.releases[-1]:
            continue
        name = f"{history.requirement} {step.after}".strip()
        summaries = summaries_of(step, summed_up(history, table, main))
        return {
            "name": name,
            "before": step.before,
            "machine": history.machine,
            "sentence": _release_sentence(name, summaries),
            **summaries,
        }
    return None


def _release_sentence(name: str, summaries: Mapping[str, Json]) -> str:
    time, memory = summaries["time"], summaries["memory"]
    sentences = []
    if time["count"]:
        faster, slower = time["better"], time["worse"]
        of_cases = f"of {counted(time['count'], 'case')}"
        if faster and slower:
            sentences.append(f"made {faster} {of_cases} faster and {slower} slower")
        elif faster or slower:
            word = "faster" if faster else "slower"
            sentences.append(f"made {faster or slower} {of_cases} {word}")
        else:
            sentences.append(f"changed the time of none {of_cases}")
    if memory["count"]:
        of_cases = f"of {counted(memory['count'], 'case')}"
        parts = [
            f"{word} peak memory in {memory[key]} {of_cases}"
            for word, key in (("raised", "worse"), ("lowered", "better"))
            if memory[key]
        ]
        sentences += parts or [f"changed the peak memory of none {of_cases}"]
    return f"{name} {quantities.listed(sentences)}." if sentences else ""
