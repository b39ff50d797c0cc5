"""The first screen: what the newest version changed, what lasts, and a heat map of both.

What *lasts* is the ratio of the newest version to an older one, by all comparisons: a version that
was slow and is fast again does not count.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from math import log
from urllib.parse import urlencode

import msgspec

from asv_watch.comparison import Ratio
from asv_watch.judge.changes import MOST_COMMITS
from asv_watch.judge.release_history import ReleaseHistory, certainty
from asv_watch.site.cases import CaseTable
from asv_watch.site.causes import ReleaseCauses
from asv_watch.site.change_data import recent_changes
from asv_watch.site.contents import Contents, Shown
from asv_watch.site.heat_map import commits_map, compare_address, releases_map, timed_cases
from asv_watch.site.release_data import summed_up
from asv_watch.site.series import SeriesSummary
from asv_watch.statistics.rule import TOO_NOISY, Verdict
from asv_watch.text import quantities
from asv_watch.versions.version import release_order

_MOST_STEPS = 3
"""Most versions that a sentence names."""
_WORDS = {
    ("time", Verdict.WORSE): "slower",
    ("time", Verdict.BETTER): "faster",
    ("memory", Verdict.WORSE): "larger in memory",
    ("memory", Verdict.BETTER): "smaller in memory",
}
"""Maps kind and verdict of a change to the word in sentences."""

_RELEASE_WORDS = {
    "time": ("changed the time", "made {} slower", "made {} faster"),
    "memory": ("changed the peak memory", "raised the memory of {}", "lowered the memory of {}"),
}
"""What a release did to no case, to cases that got worse, and to cases that got better."""


class LastingSentence(msgspec.Struct):
    """The largest lasting slowdown or gain, as a sentence with a link to its comparison."""

    before: str
    size: str
    after: str
    verdict: Verdict
    href: str
    why: str


class Overview(msgspec.Struct):
    """What the first screen says; index.html holds it as text."""

    headline: str
    title: str
    """The first sentence of the headline."""
    lasting: list[LastingSentence]


Lasting = tuple[Ratio, Callable[[], LastingSentence]]
"""The ratio of a case's newest version to an older one, and what writes the sentence about it."""


def front_page(contents: Contents) -> tuple[Overview, Shown | None]:
    """Return what the first screen says, and its heat map."""
    all_histories = contents.findings.release_histories
    of_releases = [history for history in all_histories if history.requirement]
    histories = of_releases or list(all_histories)
    lasting = list(_lasting_releases(of_releases, contents)) or list(_lasting_commits(contents))
    lasting.sort(key=lambda entry: certainty(entry[0]), reverse=True)
    sentence_about: dict[Verdict, Callable[[], LastingSentence]] = {}
    by_row: dict[int, float] = {}
    for ratio, describe in lasting:
        sentence_about.setdefault(ratio.verdict, describe)
        by_row.setdefault(contents.cases.entry(ratio.case).row, certainty(ratio))
    headline = [_release_sentence(histories, contents.cases), _commits_sentence(contents)]
    sentences = [sentence for sentence in headline if sentence]
    overview = Overview(
        headline=" ".join(sentences),
        title=sentences[0],
        lasting=[
            sentence_about[verdict]()
            for verdict in (Verdict.WORSE, Verdict.BETTER)
            if verdict in sentence_about
        ],
    )
    return overview, releases_map(histories, by_row, contents) or commits_map(contents)


def _commits_sentence(contents: Contents) -> str:
    recent = recent_changes(contents)
    if recent.count < 2:
        return "One commit is measured so far." if recent.count else "Nothing is measured yet."
    newest = f"the newest {quantities.counted(recent.count, 'measured commit')}"
    missing = recent.count - recent.compared
    unknown = f" {missing} of them {'was' if missing == 1 else 'were'} not compared."
    measured = Counter[tuple[str, Verdict]](
        (change.kind, change.verdict) for change in recent.changes if change.is_measured
    )
    parts = [
        f"{quantities.counted(measured[kind], 'case')} {words}"
        for kind, words in _WORDS.items()
        if measured[kind]
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


def _release_sentence(histories: Sequence[ReleaseHistory], table: CaseTable) -> str:
    """Say what the newest release changed in the cases of the first screen, since the last one."""
    pairs = [(history.steps[0].after, history.steps[0].before) for history in histories]
    newest = max(pairs, key=lambda pair: tuple(map(release_order, pair)), default=("", ""))
    measured = [history for history, pair in zip(histories, pairs, strict=True) if pair == newest]
    summed = summed_up(measured, table)
    found = [
        (history.machine, ratio)
        for history in measured
        for case, ratio in history.steps[0].ratios.items()
        if case in summed and not ratio.exact
    ]
    parts = []
    for metric, (unchanged, worse, better) in _RELEASE_WORDS.items():
        verdicts = Counter(ratio.verdict for _, ratio in found if ratio.metric == metric)
        count = quantities.counted(verdicts.total(), "case")
        done: list[str] = []
        for words, verdict in ((worse, Verdict.WORSE), (better, Verdict.BETTER)):
            if number := verdicts[verdict]:
                done.append(words.format(number if done else f"{number} of {count}"))
        if verdicts:
            parts.append(quantities.listed(done) if done else f"{unchanged} of none of {count}")
    if not parts:
        return ""
    name = f"{measured[0].requirement} {newest[0]}".strip()
    machines = {machine for machine, _ in found}
    where = f"{len(machines)} machines" if len(machines) > 1 else min(machines)
    return f"{name} {', and '.join(parts)}, on {where}."


def _lasting(ratios: Sequence[tuple[int, Ratio]]) -> Iterator[tuple[int, Ratio]]:
    """Yield the ratios of the newest version to older ones that last, from those to all of them.

    Versions are indices of releases or of commits. The newest version differs in the same
    direction from the version before that older one, unless that is the oldest: one version that
    stands out shows nothing that lasts.
    """
    verdict = None
    for before, ratio in ratios:
        stands_out = verdict is not None and ratio.verdict is not verdict
        if ratio.differs and not ratio.needs_second_day and not stands_out:
            yield before, ratio
        verdict = ratio.verdict


def _lasting_releases(
    histories: Iterable[ReleaseHistory], contents: Contents
) -> Iterator[Lasting]:
    for history in histories:
        newest = history.releases[-1]
        for case in timed_cases(history, contents):
            ratios = [
                (index, ratio)
                for index, before in enumerate(history.releases[:-1])
                if (ratio := history.ratio(case, before, newest))
            ]
            for before, whole in _lasting(ratios):
                yield whole, partial(_since_release, whole, before, history, contents)


def _since_release(
    whole: Ratio, before: int, history: ReleaseHistory, contents: Contents
) -> LastingSentence:
    """Describe a lasting difference since a release, by its index."""
    name, releases = history.requirement, history.releases
    steps = [
        (step, ratio)
        for step in history.steps
        if releases.index(step.before) >= before
        and (ratio := step.times.get(whole.case))
        and ratio.verdict is whole.verdict
    ]
    steps.sort(key=lambda entry: -abs(log(entry[1].ratio)))
    causes = ReleaseCauses(history, contents)
    texts = []
    for step, ratio in steps[:_MOST_STEPS]:
        operator = causes.operator(step, ratio)
        because = f" ({operator})" if operator else ""
        texts.append(f"{quantities.change(ratio.ratio)} by {name} {step.after}{because}")
    than = f"with {name} {releases[before]} on {history.machine}"
    href = compare_address(history, releases[before], releases[-1])
    return _sentence(whole, than, href, texts, contents.cases)


def _lasting_commits(contents: Contents) -> Iterator[Lasting]:
    for row in contents.series:
        compared = contents.findings.compared.get(row.index)
        if compared is None or row.metric.kind != "time":
            continue
        newest = max(compared.nodes)
        part = next(part for part in compared.parts if newest in part)
        ratios = [
            (before, ratio)
            for before in part[-MOST_COMMITS:-1]
            if (ratio := compared.ratio(before, newest))
        ]
        for before, whole in _lasting(ratios):
            yield whole, partial(_since_commit, whole, before, newest, row, contents)


def _since_commit(
    whole: Ratio, before: int, newest: int, row: SeriesSummary, contents: Contents
) -> LastingSentence:
    """Describe a lasting difference between two commits, by their indices."""
    commits = contents.history.commits
    steps = [
        f"{quantities.change(change.ratio)} by {commits[change.commit].hash[:8]} "
        f"“{commits[change.commit].subject}”"
        for change in sorted(row.measured, key=lambda change: -abs(log(change.ratio or 1)))
        if change.verdict is whole.verdict and change.previous >= before
    ]
    first, last = (commits[index].hash[:8] for index in (before, newest))
    sides = {"by": "commit", "a": first, "b": last, "m": row.machine}
    than = f"at {first} on {row.machine}"
    href = f"#/compare?{urlencode(sides)}"
    return _sentence(whole, than, href, steps[:_MOST_STEPS], contents.cases)


def _sentence(
    ratio: Ratio, than: str, href: str, steps: Sequence[str], table: CaseTable
) -> LastingSentence:
    name = table.in_words(ratio.case) or table.entry(ratio.case).title
    interval = quantities.interval(ratio.interval, ratio.clock)
    amount = quantities.difference(ratio.ratio)
    made = f"; {quantities.listed(steps)}" if steps else ""
    why = f"{amount}: {interval}, with 99 % confidence{made}."
    word = "as" if amount.endswith("as long") else "than"
    return LastingSentence(f"{name} takes ", amount, f" {word} {than}.", ratio.verdict, href, why)
