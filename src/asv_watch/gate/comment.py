"""The comment of the gate: Markdown that begins with its answer.

Names and reasons come from the code of a pull request. They are printed as code, inside which
GitHub interprets nothing: no HTML, no links, no mentions.
"""

from __future__ import annotations

import base64
import re
import zlib
from collections.abc import Iterable

import msgspec

from asv_watch.asv.patterns import pattern_of
from asv_watch.gate.certainty import ERROR
from asv_watch.gate.result import (
    LARGEST_BYTES,
    CaseState,
    GateCase,
    GateResult,
    parse_as,
)
from asv_watch.progress import human_time
from asv_watch.statistics.ratio import CONFIDENCE
from asv_watch.text import quantities
from asv_watch.text.markdown import code
from asv_watch.text.quantities import quantity

LONGEST = 60_000
"""Most characters of a comment; GitHub takes 65,536."""
_STATE = re.compile(r"<!-- asv-watch-gate ([\w+/=]*) -->")
"""The last line of a comment."""
_FIRST = (CaseState.WORSE, CaseState.NOT_CERTAIN, CaseState.FAILED)
_REST = (CaseState.BETTER, CaseState.NOISY, CaseState.SAME, CaseState.SKIPPED)
_WORDS_OF_TIMES = {
    CaseState.WORSE: "slower",
    CaseState.NOT_CERTAIN: "slower, but not for certain",
    CaseState.BETTER: "faster",
}
_HEAD = ("| case | before | after | change | verdict |", "|---|---|---|---|---|")


class Stored(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The result in a comment, so that a label can be judged without measuring again."""

    result: GateResult
    accepted: str = ""
    """Why a slowdown of this head is accepted; empty if it is not."""
    accepted_by: str = ""
    """Login of the person who set the label, or empty."""


def sentence(result: GateResult, threshold: float) -> str:
    """Say the answer: ``2 of 26 cases slower, worst +6.2 % (+5.4 to +7.0 %)``."""
    limit = human_time(result.limit_s)
    if not result.is_prepared:
        return f"Undecided: building and choosing cases took all of {limit}; nothing was measured"
    if not result.cases:
        return "No changed file can change a measured value, so nothing was measured"
    slower = result.in_state(CaseState.WORSE)
    measured = sum(case.is_measured for case in result.cases)
    passes = result.passes(threshold, "")
    undecided = passes and result.is_undecided(threshold)
    answer = "Undecided: " if undecided else ""
    answer += f"{len(slower)} of {measured} cases {_slower(result)}"
    if slower:
        answer += f", worst {_change(slower[0])}"
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
        (missing, f"not measured in {limit}" if passes else "not measured"),
    )
    more = [f"{count} {words}" for count, words in others if count]
    return f"{answer}; {', '.join(more)}" if more else answer


def verdict_line(result: GateResult, threshold: float, accepted: str, by: str = "") -> str:
    """Say whether the gate passes, and why; ``by`` is who accepted what is slower."""
    failing = len(result.failing(threshold))
    failed = len(result.in_state(CaseState.FAILED))
    slower = f"{failing} {_slower(result)} by {quantities.share(threshold)} or more"
    if not result.passes(threshold, accepted):
        against = [slower] if failing and not accepted else []
        against += [f"{failed} failed"] if failed else []
        return f"**The gate fails: {', '.join(against)}.**"
    if failing:
        who = f" by {code(by)}" if by else ""
        return f"The gate passes although {slower}. Accepted{who} because: {code(accepted)}"
    if result.is_undecided(threshold):
        remedy = "give it more time (`--limit`), fewer cases or a quieter machine"
        return f"**The gate is undecided: {remedy}.**"
    return "The gate passes."


def _slower(result: GateResult) -> str:
    return _in_words(CaseState.WORSE, result)


def _in_words(state: CaseState, result: GateResult) -> str:
    return _WORDS_OF_TIMES.get(state, state.value) if result.is_timed else state.value


def _change(case: GateCase) -> str:
    """Return how far the head differs from the base, as measured last."""
    if case.exact is not None:
        return quantities.change(case.exact.ratio, "count")
    change = case.changes[-1]
    return quantities.measured(change.ratio, change.interval, change.kind, change.clock)


def comment(
    result: GateResult,
    threshold: float,
    accepted: str = "",
    *,
    by: str = "",
    advice: str = "",
) -> str:
    """Write the whole comment; its last line holds the result for `read_stored`.

    Args:
        result: the measured gate.
        threshold: slowdown of a case from which the gate fails (0.03 is 3 %).
        accepted: why a slowdown is accepted; empty if it is not.
        by: login of the person who accepts it.
        advice: how to accept a slowdown, or how to keep an acceptance.
    """
    parts = [f"{sentence(result, threshold)}.", verdict_line(result, threshold, accepted, by)]
    parts += [advice] if advice else []
    first, rest = (result.in_state(*states) for states in (_FIRST, _REST))
    end = [_how(result)] if result.cases else []
    state = _state(Stored(result, accepted, by))
    room = LONGEST - sum(map(len, (*parts, *end))) - len(state) - 500
    for cases, hidden in ((first, False), (rest, True)):
        rows, room = _rows(result, cases, room)
        if not rows:
            continue
        text = "\n".join([*_HEAD, *rows])
        if len(rows) < len(cases):
            text += f"\n\n{len(cases) - len(rows)} more are in the file of the result."
        if hidden:
            text = f"<details><summary>{len(cases)} others</summary>\n\n{text}\n\n</details>"
        parts.append(text)
    return "\n\n".join([*parts, *end, state]) + "\n"


def is_ours(text: str) -> bool:
    """Tell whether a comment was written by `comment`."""
    return _STATE.fullmatch(_last_line(text)) is not None


def read_stored(text: str) -> Stored | None:
    """Return the result in a comment, or ``None`` if there was no room for it.

    Names of cases are printed in a comment too, so only its last line counts.

    Raises:
        WatchError: the result is damaged.
    """
    match = _STATE.fullmatch(_last_line(text))
    if match is None or not match[1]:
        return None
    try:
        unpacker = zlib.decompressobj()
        content = unpacker.decompress(base64.b64decode(match[1], validate=True), LARGEST_BYTES)
    except (ValueError, zlib.error):
        content = b""
    return parse_as(Stored, content, "the comment")


def _last_line(text: str) -> str:
    return text.rstrip().rpartition("\n")[2].strip()


def _state(stored: Stored) -> str:
    """Return the result inside an HTML comment, which is empty if it would be too long."""
    packed = base64.b64encode(zlib.compress(msgspec.json.encode(stored), 9)).decode()
    return f"<!-- asv-watch-gate {packed if len(packed) < LONGEST * 2 // 3 else ''} -->"


def _rows(result: GateResult, cases: Iterable[GateCase], room: int) -> tuple[list[str], int]:
    """Return the rows of a table that fit, and the number of characters left."""
    rows: list[str] = []
    for case in cases:
        row = _row(result, case)
        room -= len(row) + 1
        if room < 0:
            break
        rows.append(row)
    return rows, room


def _row(result: GateResult, case: GateCase) -> str:
    verdict = _in_words(result.state(case), result)
    reason = case.failed or ("" if case.is_measured else case.skipped)
    if reason:
        verdict = f"{verdict}: {code(reason)}"
    if case.threshold is not None:
        verdict += f" (its threshold is {quantities.share(case.threshold)})"
    cells = ["", "", ""]
    if case.is_measured:
        sides = case.exact or case.changes[-1]
        cells = [_value(value, sides.unit) for value in (sides.before, sides.after)]
        cells.append(_change(case))
    return f"| {' | '.join([code(case.case), *cells, verdict])} |"


def _value(value: float, unit: str) -> str:
    """Write a value in its unit, which is an untrusted text too."""
    text = quantity(value, unit)
    return text if re.fullmatch(r"[\w ,./%+-]*", text) else code(text)


def _how(result: GateResult) -> str:
    chosen = "that the changed files touch"
    if result.pattern:
        chosen = f"that match {code(result.pattern)}"
    values = "" if result.is_timed else " An exact value is a change if it differs at all."
    option = "" if result.is_timed else " --values"
    first = (result.in_state(*_FIRST) or result.in_state(*_REST))[0]
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
