"""A report says of each change what, since when, how much, how certain, which commit and why."""

import re
from dataclasses import replace

import msgspec
import pytest

from asv_watch.judge.changes import Change, analyse
from asv_watch.records.history import History
from asv_watch.records.store import Explanation, OperatorDifference, StoredExplanation
from asv_watch.site.contents import contents_of
from asv_watch.site.report import Markup, write_report
from asv_watch.text import quantities
from asv_watch.versions.git import Ancestry
from asv_watch.versions.version import Version
from tests.judge.test_changes import comparison, history_of, noisy
from tests.making import MACHINE, commit_hash

CASE = "suite.Suite.time_forward('darnn', 'cpu')"


@pytest.fixture
def history() -> History:
    """A case became 20 % slower two commits before the newest, as a comparison measured."""
    return history_of(noisy({38: 1.2}), comparisons=comparison(37, 38, 1.2))


def _change(history: History) -> Change:
    [change] = analyse(history).changes
    return change


def _report(
    history: History, changes: list[Change], markup: Markup, ancestry: Ancestry | None = None
) -> str:
    return write_report(contents_of(history, analyse(history), ancestry), changes, markup)


def test_a_measured_change_is_described_as_markdown_and_as_text(history: History) -> None:
    change = _change(history)
    markdown = _report(history, [change], "markdown")
    title, _, *facts = markdown.splitlines()
    assert change.interval is not None
    size = f"+20.0 % ({quantities.interval(change.interval)})"
    assert title == f"### `darnn · cpu · forward`: worse, {size}"
    described = dict(re.findall(r"^- \*\*([\w ]+)\*\*: (.*)$", "\n".join(facts), re.M))
    assert list(described) == ["What", "Since", "How certain", "Commit", "Cause", "Reproduce"]
    assert described["What"].startswith(f"`{CASE}` on `{MACHINE}`, `torch 2.15.0`: ")
    assert described["Since"].startswith(f"{commit_hash(38)[:8]} (`Commit 38`), 20")
    assert described["How certain"].startswith("the two commits were compared with each other")
    assert described["Commit"] == commit_hash(38)[:8]
    assert described["Cause"] == "`not profiled`"
    before, after = (commit_hash(number)[:12] for number in (37, 38))
    command = f"asv-watch compare --before {before} --after {after} --cases "
    pattern = "'suite.Suite.time_forward..darnn., .cpu..'"
    assert described["Reproduce"] == f"`{command}{pattern} --release 2.15.0`"
    assert re.search(pattern.strip("'"), CASE)

    text = _report(history, [change], "text")
    assert text.splitlines()[0] == title.removeprefix("### ").replace("`", "")
    assert "**" not in text
    for name, fact in described.items():
        assert re.search(rf"^  {name}: +{re.escape(fact.replace('`', ''))}$", text, re.M)


def test_commit_and_operator_are_named_where_they_are_known(history: History) -> None:
    versions = [Version(commit_hash(n), {"torch": "2.15.0"}, "3.11") for n in (37, 38)]
    operator = OperatorDifference("aten::cumsum", "[]", (1.0, 1.0), (0.001, 0.002), clear=True)
    explanation = Explanation(seconds=(0.005, 0.006), operators=(operator,))
    stored = StoredExplanation(
        case=CASE, at=1, before=versions[0], after=versions[1], explanation=explanation
    )
    history = replace(history, explanations={MACHINE: (stored,)})
    assert "all of it: aten::cumsum, 1.00 → 2.00 ms" in _report(
        history, [_change(history)], "markdown"
    )


def test_a_change_that_may_be_of_several_commits_says_how_to_list_them(history: History) -> None:
    change = msgspec.structs.replace(_change(history), previous=30)
    text = _report(history, [change], "text")
    commits = f"{commit_hash(30)[:8]}..{commit_hash(38)[:8]}"
    assert f"one of 8 (not bisected): git log --oneline {commits}\n" in text
    assert f"one of 8 commits up to {commit_hash(38)[:8]}, not bisected, 20" in text


def test_commits_that_change_nothing_measured_are_no_suspects(history: History) -> None:
    change = msgspec.structs.replace(_change(history), previous=30)
    touching = [commit_hash(33), commit_hash(36)]
    two = _report(history, [change], "text", Ancestry(history.commits, touching, ("src",)))
    assert "Commit:      one of 2 that change what is measured, of 8 (not bisected): git" in two
    alone = _report(history, [change], "text", Ancestry(history.commits, touching[:1], ("src",)))
    assert re.search(rf"Commit: +{touching[0][:8]}\n", alone)
    assert f"only {touching[0][:8]} of 8 commits touches what is measured" in alone


def test_a_subject_is_code_in_a_report(history: History) -> None:
    subject = "@everyone ![](http://x/y.png) <img src=x> ``x`` <!-- # [a](b)"
    commits = [msgspec.structs.replace(commit, subject=subject) for commit in history.commits]
    hostile = replace(history, commits=tuple(commits))
    for line in _report(hostile, [_change(history)], "markdown").splitlines():
        outside = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", line)
        assert not re.search(r"@|<|!\[", outside), line
