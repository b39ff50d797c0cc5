"""`asv publish` by hand: what it writes, what it keeps, and how it fails."""

import json
import os
import re
import resource
import sys
from pathlib import Path

import pytest

from asv_watch.results import check_results
from tests.conftest import run
from tests.generator import TIME_AND_MEMORY, Plan, Suite, small_plan
from tests.site.conftest import SOURCES, Project, make_project, tree

GITIGNORE = "# Where the site goes.\n*\n!.gitignore\n"


def test_two_builds_differ_in_nothing_but_the_declared_time(project: Project) -> None:
    for name, moment in (("one", "1700000000"), ("two", "1800000000")):
        project.publish("--html-dir", name, env={"SOURCE_DATE_EPOCH": moment})
    one, two = (tree(project.root / name) for name in ("one", "two"))
    assert one.keys() == two.keys()
    differ = {name for name in one if one[name] != two[name]}
    assert differ == {"index.html", "index.json", "data/index.js"}
    assert one["data/index.js"].replace(b"1700000000", b"1800000000") == two["data/index.js"]
    page = one["index.html"].replace(b"2023-11-14T22:13:20Z", b"2027-01-15T08:00:00Z")
    assert page.replace(b"2023-11-14 22:13 UTC", b"2027-01-15 08:00 UTC") == two["index.html"]


def test_the_gitignore_that_stood_there_stays(project: Project) -> None:
    project.html.mkdir()
    (project.html / ".gitignore").write_text(GITIGNORE)
    project.publish()
    assert (project.html / ".gitignore").read_text() == GITIGNORE
    (project.html / "index.html").unlink()
    project.publish()
    assert (project.html / ".gitignore").read_text() == GITIGNORE


def test_a_range_limits_what_is_published(project: Project) -> None:
    hashes = project.generated.hashes
    project.publish(f"{hashes[5]}..{hashes[9]}")
    assert [commit[0] for commit in project.index["commits"]] == list(hashes[6:10])


def test_a_known_address_makes_links_absolute(project: Project) -> None:
    configuration = project.root / "asv.conf.json"
    settings = {**json.loads(configuration.read_text()), "site_url": "https://speed.example.org"}
    configuration.write_text(json.dumps(settings))
    project.publish()
    assert 'href="https://speed.example.org/index.html"' in (project.html / "feed.xml").read_text()


def test_without_a_basis_the_old_site_stays(site: Project) -> None:
    before = tree(site.html)
    (site.results / "benchmarks.json").unlink()
    done = site.publish(status=1)
    assert "Traceback" not in done.stdout + done.stderr
    assert "benchmarks.json" in done.stdout + done.stderr
    assert tree(site.html) == before


def test_a_full_disk_leaves_the_old_site(site: Project) -> None:
    before = tree(site.html)
    (site.results / "ci-2core" / "machine.json").write_text(
        json.dumps({"machine": "ci-2core", "version": 1, "ram": "more"})
    )
    # No file may grow beyond 16 kB: the first larger one fails as on a full disk.
    code = (
        "import resource, runpy, sys;"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (16384, 16384));"
        "sys.argv = ['asv', 'publish']; runpy.run_module('asv', run_name='__main__')"
    )
    environment = {**os.environ, "PYTHONPATH": str(SOURCES)}
    done = run(sys.executable, "-c", code, cwd=site.root, env=environment, status=1)
    assert "Traceback" not in done.stdout + done.stderr
    assert "cannot write the site" in done.stdout + done.stderr
    assert tree(site.html) == before


def test_a_folder_of_other_things_is_not_replaced(project: Project) -> None:
    precious = project.root / "precious"
    precious.mkdir()
    (precious / "thesis.tex").write_text("years of work")
    done = project.publish("-o", "precious", status=1)
    assert "thesis.tex" in done.stdout + done.stderr
    assert tree(precious) == {"thesis.tex": b"years of work"}


def test_a_site_that_asv_alone_published_is_replaced(project: Project) -> None:
    configuration = json.loads((project.root / "asv.conf.json").read_text())
    plain = project.root / "plain.json"
    plain.write_text(json.dumps({**configuration, "plugins": []}))
    run(sys.executable, "-m", "asv", "--config", plain, "publish", cwd=project.root)
    assert (project.html / "asv.js").exists()
    project.publish()
    assert not (project.html / "asv.js").exists()
    assert (project.html / "site.js").exists()


@pytest.mark.parametrize(
    ("env_dir", "kept"), [(".asv/env", ".asv"), ("elsewhere", "elsewhere/asv-watch")]
)
def test_a_machine_that_only_publishes_keeps_levels_and_reads_every_result_anew(
    tmp_path: Path, env_dir: str, kept: str
) -> None:
    suite = Suite("s.S", TIME_AND_MEMORY[:1], {"model": ("darnn",), "device": ("cpu",)})
    plan = small_plan(30, suites=(suite,), steps=0)
    project = make_project(tmp_path / "it", plan, env_dir=env_dir)
    before = set(project.root.iterdir())
    project.publish()
    assert set(project.root.iterdir()) - before == {
        project.html,
        project.root / Path(kept).parts[0],
    }
    levels = project.root / kept / "steps.msgpack"
    first = levels.stat()
    project.publish()
    assert levels.stat().st_mtime_ns == first.st_mtime_ns, "nothing was found anew"
    for path in project.result_files():
        path.write_text(
            re.sub(r'("s.S.time_forward": \[\[)[^],]+', r"\g<1>0.125", path.read_text())
        )
    project.publish()
    assert {one["last"]["v"] for one in project.index["series"] if one["last"]} == {0.125}


def _stored(project: Project, number: int, value: str) -> Path:
    """Store a value, as it is to stand in the file, as the first of a benchmark's row."""
    path = project.result_files()[number]
    content = json.loads(path.read_text())
    [row, *_] = [row for name, row in content["results"].items() if "time_forward" in name]
    row[0][0] = "@@"
    path.write_text(json.dumps(content).replace('"@@"', value))
    return path


def test_files_of_every_damage_are_named_and_the_rest_published(project: Project) -> None:
    folder = project.results / "ci-2core"
    named = [
        folder / "dangling-env.json",
        folder / "loop-env.json",
        folder / "fifo-env.json",
        project.results / "gone",
    ]
    named[0].symlink_to("nowhere")
    named[1].symlink_to(named[1].name)
    os.mkfifo(named[2])
    named[3].symlink_to("nowhere")
    (folder / "again").symlink_to(".")
    fifo, wide, truncated = (folder / f"20{year}-01.jsonl" for year in (17, 18, 19))
    os.mkfifo(fifo)
    wide.write_bytes('{"case": "é"}'.encode("utf-16"))
    truncated.write_text('{"case": "time_ser')
    victim = project.result_files()[3]
    victim.write_bytes(victim.read_bytes()[:200])
    named += [fifo, wide, truncated, victim, _stored(project, 4, "1" + "0" * 400)]
    _stored(project, 5, "5e-324")
    _stored(project, 6, "-1e308")
    benchmarks = project.results / "benchmarks.json"
    content = json.loads(benchmarks.read_text())
    content["small_cnns.SmallCNNs.time_forward"]["params"] = [[str(n) for n in range(3000)]] * 2
    benchmarks.write_text(json.dumps(content))
    done = project.publish(status=1, timeout=120)
    output = done.stdout + done.stderr
    assert "Traceback" not in output
    for path in (*named, benchmarks):
        assert output.count(path.name) == 1, path
    page = (project.html / "index.html").read_text()
    [problems] = re.findall("could not be read</h2>(.*?)</ul>", page, re.DOTALL)
    assert problems.count("<li>") == len(named) + 1
    assert sum(series["last"] is not None for series in project.index["series"]) > 10


def test_the_command_publishes_what_asv_publishes(project: Project) -> None:
    _stored(project, 4, "1" + "0" * 400)
    environment = os.environ | {"SOURCE_DATE_EPOCH": "1700000000"}
    project.publish(status=1, env=environment)
    by_asv = tree(project.html)
    command = sys.executable, "-m", "asv_watch.cli", "publish"
    [line] = run(*command, cwd=project.root, env=environment, status=1).stderr.splitlines()
    assert line.startswith("asv-watch: the site was published without results/ci-2core/")
    assert tree(project.html) == by_asv


def test_thousands_of_result_files_are_published(tmp_path: Path) -> None:
    suite = Suite("s.S", TIME_AND_MEMORY[:1], {"model": ("darnn", "lstnet"), "device": ("cpu",)})
    machines = tuple(f"desk-{number}" for number in range(10))
    plan = Plan(commits=100, suites=(suite,), machines=machines, unmeasured_commits=0.0)
    project = make_project(tmp_path / "it", plan)
    assert len(list(project.results.glob("*/*-*.json"))) == 2000
    project.publish(preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64)))
    assert check_results(project.results) == []
