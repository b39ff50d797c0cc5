"""The comment of the gate: Markdown that begins with its answer.

Names and reasons come from the code of a pull request. They are printed as code, inside which
GitHub interprets nothing; everything else is words, numbers and tables. The workflow that posts
the comment, `.github/workflows/gate-comment.yml`, refuses any other text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from asv_watch.answers import Difference
from asv_watch.asv.patterns import pattern_of
from asv_watch.gate.certainty import ERROR
from asv_watch.gate.result import CaseState, GateCase, GateResult
from asv_watch.progress import human_time
from asv_watch.statistics.ratio import CONFIDENCE
from asv_watch.text import quantities
from asv_watch.text.markdown import code

LONGEST = 60_000
"""Most bytes of a comment; GitHub takes 65,536 characters."""
_FIRST = (CaseState.WORSE, CaseState.NOT_CERTAIN, CaseState.FAILED)
_REST = (CaseState.BETTER, CaseState.NOISY, CaseState.SAME, CaseState.SKIPPED)
_WORDS_OF_TIMES = {
    CaseState.WORSE: "slower",
    CaseState.NOT_CERTAIN: "slower, but not for certain",
    CaseState.BETTER: "faster",
}
_HEAD = ("| case | before | after | change | verdict |", "|---|---|---|---|---|")


def sentence(result: GateResult, threshold: float) -> str:
    """Say the answer: ``2 of 26 cases slower, worst +6.2 % (+5.4 to +7.0 %)``."""
    limit = human_time(result.limit_s)
    if not result.is_prepared:
        return f"Undecided: building and choosing cases took all of {limit}; nothing was measured"
    if not result.cases:
        return "No changed file can change a measured value, so nothing was measured"
    slower = result.in_state(CaseState.WORSE)
    measured = sum(case.is_measured for case in result.cases)
    outcome = result.outcome(threshold)
    answer = "Undecided: " if outcome == "undecided" else ""
    answer += f"{len(slower)} of {measured} cases {_slower(result)}"
    if slower:
        answer += f", worst {_change(result.difference(slower[0]))}"
    missing = len(result.in_state(CaseState.NOT_MEASURED))
    others = (
        (
            len(result.in_state(CaseState.NOT_CERTAIN)),
            f"{_slower(result)}, but not for certain",
        ),
        (
            len(result.uncertain(threshold)),
            f"too noisy to exclude {quantities.share(threshold)}",
        ),
        (len(result.in_state(CaseState.FAILED)), "failed"),
        (missing, "not measured" if outcome == "failed" else f"not measured in {limit}"),
    )
    more = [f"{count} {words}" for count, words in others if count]
    return f"{answer}; {', '.join(more)}" if more else answer


def verdict_line(result: GateResult, threshold: float) -> str:
    """Say whether the gate passes, why, and what can be done if it does not."""
    too_slow, failing = result.too_slow(threshold), result.failing(threshold)
    failed = len(result.in_state(CaseState.FAILED))
    slower = f"{_slower(result)} by {quantities.share(threshold)} or more"
    outcome = result.outcome(threshold)
    if outcome == "failed":
        against = [f"{len(failing)} {slower}"] if failing else []
        against += [f"{failed} failed"] if failed else []
        remedy = (
            f" To accept that, give {result.head[:8]} a `[[change]]` of kind `expected` in "
            "`notes.toml`."
        )
        return f"**The gate fails: {', '.join(against)}.**{remedy if failing else ''}"
    if outcome == "undecided":
        remedy = "give it more time (`--limit`), fewer cases or a quieter machine"
        return f"**The gate is undecided: {remedy}.**"
    if too_slow:
        return f"The gate passes although {len(too_slow)} {slower}: `notes.toml` accepts that."
    return "The gate passes."


def _slower(result: GateResult) -> str:
    return _in_words(CaseState.WORSE, result)


def _in_words(state: CaseState, result: GateResult) -> str:
    return _WORDS_OF_TIMES.get(state, state.value) if result.is_timed else state.value


def _change(difference: Difference) -> str:
    return f"{difference.change} ({difference.ends})" if difference.ends else difference.change


def comment(result: GateResult, threshold: float) -> str:
    """Write the whole comment.

    Args:
        result: the measured gate.
        threshold: slowdown of a case from which the gate fails (0.03 is 3 %).
    """
    parts = [f"{sentence(result, threshold)}.", verdict_line(result, threshold)]
    first, rest = (result.in_state(*states) for states in (_FIRST, _REST))
    end = [_how(result, (first or rest)[0])] if first or rest else []
    room = LONGEST - len("".join([*parts, *end]).encode()) - 500
    for cases, hidden in ((first, False), (rest, True)):
        rows, room = _rows(result, cases, room)
        if not rows:
            continue
        text = "\n".join([*_HEAD, *rows])
        if len(rows) < len(cases):
            text += f"\n\n{len(cases) - len(rows)} more do not fit here."
        if hidden:
            text = f"<details><summary>{len(cases)} others</summary>\n\n{text}\n\n</details>"
        parts.append(text)
    return "\n\n".join([*parts, *end]) + "\n"


def _rows(result: GateResult, cases: Iterable[GateCase], room: int) -> tuple[list[str], int]:
    """Return the rows of a table that fit, and the number of bytes left."""
    rows: list[str] = []
    for case in cases:
        row = _row(result, case)
        room -= len(row.encode()) + 1
        if room < 0:
            break
        rows.append(row)
    return rows, room


def _row(result: GateResult, case: GateCase) -> str:
    verdict = _in_words(result.state(case), result)
    reason = case.failed or result.accepted(case) or ("" if case.is_measured else case.skipped)
    if reason:
        verdict = f"{verdict}: {code(reason)}"
    if case.threshold is not None:
        verdict += f" (its threshold is {quantities.share(case.threshold)})"
    cells = ["", "", ""]
    if case.is_measured:
        difference = result.difference(case)
        cells = [*map(_value, difference.values), _change(difference)]
    return f"| {' | '.join([code(case.case), *cells, verdict])} |"


def _value(text: str) -> str:
    """Write a value with its unit, which is an untrusted text too."""
    return text if re.fullmatch(r"[-+\d.,e]+( [\w/%]+)?", text) else code(text)


def _how(result: GateResult, first: GateCase) -> str:
    chosen = "that the changed files touch"
    if result.pattern:
        chosen = f"that match {code(result.pattern)}"
    values = "" if result.is_timed else " An exact value is a change if it differs at all."
    option = "" if result.is_timed else " --values"
    again = (
        f"asv-watch compare --before {result.base[:8]} --after {result.head[:8]} "
        f"--cases '^{pattern_of(first.case)}$'{option}"
    )
    return (
        f"{result.head[:8]} against the merge base {result.base[:8]}, {code(result.environment)}, "
        f"on {code(result.machine)}, interleaved, in {human_time(result.seconds)}: "
        f"{len(result.cases)} of {result.available} cases, {chosen}. A case is "
        f"{_slower(result)} if its interval at an error of 1 in {1 / ERROR:,.0f} leaves out 1. "
        f"Its size is shown with its {quantities.share(CONFIDENCE)} confidence interval, from "
        f"further rounds where there was time.{values} "
        f"The first case again: {code(again)}."
    )
