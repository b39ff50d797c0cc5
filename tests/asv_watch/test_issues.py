"""Issues of slowdowns, with a `gh` that keeps them in a file."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from asv_watch.answers import Answer, Difference
from asv_watch.cli.main import main

GH = f"""#!{sys.executable}
import json, pathlib, sys
file = pathlib.Path(__file__).with_name("issues.json")
issues = json.loads(file.read_text()) if file.exists() else []
kind, action, *arguments = sys.argv[1:]
options = dict(a[2:].split("=", 1) for a in arguments if a.startswith("--") and "=" in a)
if kind == "label":
    assert action == "create", action
elif action == "list":
    fields = options["json"].split(",")
    print(json.dumps([{{name: i[name] for name in fields}} for i in issues
                      if i["label"] == options["label"]]))
elif action == "create":
    new = {{"number": len(issues) + 1, "title": options["title"], "body": options["body"],
           "label": options["label"], "state": "OPEN", "edits": 0}}
    issues.append(new)
else:
    issue = issues[int(arguments[0]) - 1]
    if action == "edit":
        issue.update(title=options["title"], body=options["body"], edits=issue["edits"] + 1)
    elif action == "close":
        issue.update(state="CLOSED", comment=options["comment"])
    else:
        sys.exit("no such action")
file.write_text(json.dumps(issues))
"""
OLD, NEW, LATER = "a" * 40, "b" * 40, "c" * 40


@pytest.fixture
def gh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file with the issues of a `gh` on the PATH."""
    program = tmp_path / "bin/gh"
    program.parent.mkdir()
    program.write_text(GH)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent))
    monkeypatch.chdir(tmp_path)
    return program.with_name("issues.json")


def _change(ratio: float, *commits: str, case: str = "s.time_a", **other: Any) -> Difference:
    fields: dict[str, Any] = {
        "case": case,
        "verdict": "slower" if ratio > 1 else "faster",
        "unit": "seconds",
        "ratio": ratio,
        "interval": (ratio * 0.99, ratio * 1.01),
        "worse": ratio > 1,
        "machine": "m",
        "commits": list(commits),
    }
    return Difference(**(fields | other))


def _night(*changes: Difference, options: tuple[str, ...] = ()) -> None:
    """Report changes, the newest first."""
    answer = Answer(command="report", differences=list(changes))
    Path("changes.json").write_bytes(msgspec.json.encode(answer))
    assert main(["issues", "changes.json", *options]) == 0


def _issues(file: Path) -> list[dict[str, Any]]:
    issues: list[dict[str, Any]] = json.loads(file.read_text())
    return issues


def test_an_issue_is_opened_once_updated_and_closed_when_the_slowdown_is_gone(
    gh: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    unmeasured = _change(1.4, OLD, case="s.time_b", measured=False)
    _night(_change(1.2, OLD, NEW), unmeasured, _change(0.8, OLD, case="s.time_c"))
    assert capsys.readouterr().out == "open: s.time_a on m: slower, +20.0 %\n"
    _night(_change(1.2, OLD, NEW))
    assert capsys.readouterr().out == "no issue to open, update or close\n"

    _night(_change(1.21, NEW))  # another night compared them again, and found the commit
    assert capsys.readouterr().out == "update #1: s.time_a on m: slower, +21.0 %\n"
    _night(_change(0.99, LATER), _change(1.21, NEW))
    [issue] = _issues(gh)
    assert (issue["state"], issue["edits"]) == ("OPEN", 1)
    assert f"- **Candidate commits**: {NEW}\n" in issue["body"]
    assert "- **Change**: +21.0 % (+19.8 to +22.2 %), 99 % interval\n" in issue["body"]

    _night(_change(0.83, LATER), _change(1.21, NEW))
    assert "close #1: s.time_a on m: slower, +21.0 %\n" in capsys.readouterr().out
    _night(_change(0.83, LATER), _change(1.21, NEW))
    [issue] = _issues(gh)
    assert issue["state"] == "CLOSED"
    assert issue["comment"] == "The newest results do not show this slowdown any more."


def test_an_issue_that_a_person_closed_stays_closed_until_another_commit(gh: Path) -> None:
    _night(_change(1.2, NEW))
    issues = _issues(gh)
    issues[0]["state"] = "CLOSED"
    gh.write_text(json.dumps(issues))
    _night(_change(1.2, NEW))
    assert len(_issues(gh)) == 1
    _night(_change(1.1, LATER), _change(1.2, NEW))
    assert [issue["state"] for issue in _issues(gh)] == ["CLOSED", "OPEN"]


def test_an_expected_slowdown_has_no_issue_and_an_open_one_is_closed_with_the_reason(
    gh: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    note = "expected, by Ann: the batch was doubled for @everybody"
    _night(_change(1.2, NEW, expected=note))
    assert capsys.readouterr().out == "no issue to open, update or close\n"
    _night(_change(1.2, NEW))
    _night(_change(1.2, NEW, expected=note))
    assert "close #1: s.time_a on m: slower, +20.0 %\n" in capsys.readouterr().out
    [issue] = _issues(gh)
    assert issue["comment"] == f"`results/notes.toml` says of this slowdown: `{note}`"
    _night(_change(1.3, LATER), _change(1.2, NEW, expected=note))
    assert [issue["state"] for issue in _issues(gh)] == ["CLOSED", "OPEN"], "another commit"


def test_an_older_slowdown_keeps_its_issue_beside_an_expected_one(gh: Path) -> None:
    _night(_change(1.1, LATER, expected="expected: more layers"), _change(1.2, NEW))
    [issue] = _issues(gh)
    assert f"- **Candidate commits**: {NEW}\n" in issue["body"]


def test_issues_of_others_are_left_alone(gh: Path) -> None:
    theirs = {"number": 1, "title": "t", "body": "<!-- asv-watch slowdown {} -->", "state": "OPEN"}
    gh.write_text(json.dumps([theirs | {"label": "asv-watch"}, theirs | {"label": "bug"}]))
    _night()
    assert [issue["state"] for issue in _issues(gh)] == ["OPEN", "OPEN"]


@pytest.mark.fault("hostile text", tried="a name that ends a hidden line")
def test_a_name_cannot_forge_the_mark(gh: Path) -> None:
    forged = "s.time_a --> <!-- asv-watch slowdown {} -->\n@everybody"
    for _ in range(2):
        _night(_change(1.2, NEW, case=forged))
    [issue] = _issues(gh)
    assert "\n" not in issue["title"]
    assert issue["body"].splitlines()[-1].count("-->") == 1
    assert issue["edits"] == 0


def test_a_dry_run_changes_nothing(gh: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _night(_change(1.2, NEW), options=("--dry-run",))
    assert "open: s.time_a on m" in capsys.readouterr().out
    assert _issues(gh) == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "changes.json is not a report"),
        ('{"command": "gate"}', "changes.json is the answer of 'gate'"),
    ],
)
def test_another_file_is_refused(
    gh: Path, capsys: pytest.CaptureFixture[str], content: str, message: str
) -> None:
    assert not gh.exists()
    Path("changes.json").write_text(content)
    assert main(["issues", "changes.json"]) == 1
    assert message in capsys.readouterr().err


def test_without_gh_one_line_says_so(
    gh: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(gh.parent / "nowhere"))
    assert main(["issues", "changes.json"]) == 1
    assert "gh is not on the PATH; install it" in capsys.readouterr().err
