"""The comment of the gate: Markdown that begins with its answer.

Names and reasons come from the code of a pull request. They are printed as code, inside which
GitHub interprets nothing; everything else is words, numbers and tables. The workflow that posts
the comment, `.github/workflows/gate-comment.yml`, refuses any other text.
"""

import re

from asv_watch.answers import UNKNOWN, Difference
from asv_watch.asv.selection import pattern_of
from asv_watch.gate.result import (
    BETTER,
    ERROR,
    FAILED,
    NOT_CERTAIN,
    SAME,
    SKIPPED,
    WORSE,
    GateResult,
)
from asv_watch.progress import human_time
from asv_watch.statistics.ratio import CONFIDENCE
from asv_watch.text import quantities
from asv_watch.text.terminal import code

LONGEST = 60_000
"""Most bytes of a comment; GitHub takes 65,536 characters."""
_HEAD = ("| case | before | after | change | verdict |", "|---|---|---|---|---|")


def sentence(result: GateResult) -> str:
    """Say the answer: ``2 of 26 cases slower, worst +6.2 % (+5.4 to +7.0 %)``."""
    limit = human_time(result.limit_s)
    if not result.is_prepared:
        return f"Undecided: building and choosing cases took all of {limit}; nothing was measured"
    if not result.cases:
        return "No changed file can change a measured value, so nothing was measured"
    slower, word = result.in_state(WORSE), _in_words(WORSE, result)
    answer = "Undecided: " if result.outcome == "undecided" else ""
    answer += f"{len(slower)} of {len(result.ratios)} cases {word}"
    if slower:
        answer += f", worst {_change(result.difference(slower[0]))}"
    not_measured = "not measured" if result.outcome == "failed" else f"not measured in {limit}"
    others = (
        (result.in_state(NOT_CERTAIN), f"{word}, but not for certain"),
        (result.uncertain(), f"too noisy to exclude {quantities.share(result.threshold)}"),
        (result.failed, "failed"),
        (result.left, not_measured),
    )
    more = [f"{len(cases)} {words}" for cases, words in others if cases]
    return f"{answer}; {', '.join(more)}" if more else answer


def verdict_line(result: GateResult) -> str:
    """Say whether the gate passes, why, and what can be done if it does not."""
    too_slow, failing = result.too_slow(), result.failing()
    slower = f"{_in_words(WORSE, result)} by {quantities.share(result.threshold)} or more"
    if result.outcome == "failed":
        against = [f"{len(failing)} {slower}"] if failing else []
        against += [f"{len(result.failed)} failed"] if result.failed else []
        remedy = (
            f" To accept that, give {result.head[:8]} a `[[change]]` of kind `expected` in "
            "`notes.toml`."
        )
        return f"**The gate fails: {', '.join(against)}.**{remedy if failing else ''}"
    if result.outcome == "undecided":
        remedy = "give it more time (`--limit`), fewer cases or a quieter machine"
        return f"**The gate is undecided: {remedy}.**"
    if too_slow:
        return f"The gate passes although {len(too_slow)} {slower}: `notes.toml` accepts that."
    return "The gate passes."


def _in_words(state: str, result: GateResult) -> str:
    if not result.is_timed:
        return state
    return state.replace(WORSE, "slower").replace(BETTER, "faster")


def _change(difference: Difference) -> str:
    return f"{difference.change} ({difference.ends})" if difference.ends else difference.change


def comment(result: GateResult) -> str:
    """Write the whole comment."""
    parts = [f"{sentence(result)}.", verdict_line(result)]
    first = result.in_state(WORSE, NOT_CERTAIN, FAILED)
    rest = result.in_state(BETTER, UNKNOWN, SAME, SKIPPED)
    end = [_how(result, (first or rest)[0])] if first or rest else []
    room = LONGEST - len("".join([*parts, *end]).encode()) - 500
    for cases in (first, rest):
        rows = []
        for row in (_row(result, case) for case in cases):
            room -= len(row.encode()) + 1
            if room < 0:
                break
            rows.append(row)
        if not rows:
            continue
        text = "\n".join([*_HEAD, *rows])
        if len(rows) < len(cases):
            text += f"\n\n{len(cases) - len(rows)} more do not fit here."
        if cases is rest:
            text = f"<details><summary>{len(cases)} others</summary>\n\n{text}\n\n</details>"
        parts.append(text)
    return "\n\n".join([*parts, *end]) + "\n"


def _row(result: GateResult, case: str) -> str:
    verdict = _in_words(result.state(case), result)
    reason = result.failed.get(case) or result.skipped.get(case) or result.accepted(case)
    if reason:
        verdict = f"{verdict}: {code(reason)}"
    if case in result.thresholds:
        verdict += f" (its threshold is {quantities.share(result.limit(case))})"
    cells = ["", "", ""]
    if case in result.ratios:
        difference = result.difference(case)
        cells = [*map(_value, difference.values), _change(difference)]
    return f"| {' | '.join([code(case), *cells, verdict])} |"


def _value(text: str) -> str:
    """Write a value with its unit, which is an untrusted text too."""
    return text if re.fullmatch(r"[-+\d.,e]+( [\w/%]+)?", text) else code(text)


def _how(result: GateResult, first: str) -> str:
    chosen = "that the changed files touch"
    if result.pattern:
        chosen = f"that match {code(result.pattern)}"
    values = "" if result.is_timed else " An exact value is a change if it differs at all."
    option = "" if result.is_timed else " --values"
    again = (
        f"asv-watch compare --before {result.base[:8]} --after {result.head[:8]} "
        f"--cases '^{pattern_of(first)}$'{option}"
    )
    return (
        f"{result.head[:8]} against the merge base {result.base[:8]}, {code(result.environment)}, "
        f"on {code(result.machine)}, interleaved, in {human_time(result.seconds)}: "
        f"{len(result.cases)} of {result.available} cases, {chosen}. "
        f"A case is {_in_words(WORSE, result)} if its interval at an error of 1 in "
        f"{1 / ERROR:,.0f} leaves out 1. Its size is shown with its "
        f"{quantities.share(CONFIDENCE)} confidence interval, from further rounds where there "
        f"was time.{values} "
        f"The first case again: {code(again)}."
    )
