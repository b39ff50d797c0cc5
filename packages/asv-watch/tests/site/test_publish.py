"""`asv publish` by hand: what it writes, what it keeps, and how it fails."""

import json
import os
import re
import resource
import sys

from tests.conftest import run
from tests.site.conftest import Project, tree


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


def test_a_range_limits_what_is_published_and_a_known_address_is_linked(project: Project) -> None:
    settings = json.loads((project.root / "asv.conf.json").read_text())
    settings["site_url"] = "https://speed.example.org"
    (project.root / "asv.conf.json").write_text(json.dumps(settings))
    hashes = project.generated.hashes
    project.publish(f"{hashes[5]}..{hashes[9]}")
    assert [commit[0] for commit in project.index["commits"]] == list(hashes[6:10])
    assert 'href="https://speed.example.org/index.html"' in (project.html / "feed.xml").read_text()


def test_without_a_basis_or_on_a_full_disk_the_old_site_stays(project: Project) -> None:
    project.html.mkdir()
    (project.html / ".gitignore").write_text("*\n!.gitignore\n")
    project.publish()
    before = tree(project.html)
    assert before[".gitignore"] == b"*\n!.gitignore\n", "it is a person's own"
    limit = 2**14  # Bytes of a file: the first larger one fails as on a full disk.
    full = project.publish(
        status=1, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    )
    (project.results / "benchmarks.json").unlink()
    bare = project.publish(status=1)
    for done, reason in ((full, "cannot write the site"), (bare, "benchmarks.json")):
        assert "Traceback" not in done.stdout + done.stderr
        assert reason in done.stdout + done.stderr
    assert tree(project.html) == before


def test_a_folder_of_other_things_is_not_replaced(project: Project) -> None:
    precious = project.root / "precious"
    precious.mkdir()
    (precious / "thesis.tex").write_text("years of work")
    done = project.publish("-o", "precious", status=1)
    assert "thesis.tex" in done.stdout + done.stderr
    assert tree(precious) == {"thesis.tex": b"years of work"}


def test_a_site_that_asv_alone_published_is_replaced(project: Project) -> None:
    settings = json.loads((project.root / "asv.conf.json").read_text()) | {"plugins": []}
    (project.root / "plain.json").write_text(json.dumps(settings))
    run(sys.executable, "-m", "asv", "--config", "plain.json", "publish", cwd=project.root)
    assert (project.html / "asv.js").exists()
    project.publish()
    assert not (project.html / "asv.js").exists()
    assert (project.html / "site.js").exists()


def test_damaged_files_are_named_and_the_rest_is_published_by_both_commands(
    project: Project,
) -> None:
    folder = project.results / "ci-2core"
    truncated, *_ = project.result_files()
    truncated.write_bytes(truncated.read_bytes()[:200])
    dangling, loop = (folder / f"{name}-e.json" for name in ("dangling", "loop"))
    dangling.symlink_to("nowhere")
    loop.symlink_to(loop.name)
    gone = project.results / "gone"
    gone.symlink_to("nowhere")
    (folder / "again").symlink_to(".")
    fifos = folder / "fifo-e.json", folder / "2017-01.jsonl"
    for fifo in fifos:
        os.mkfifo(fifo)
    wide = folder / "2018-01.jsonl"
    wide.write_bytes('{"case": "é"}'.encode("utf-16"))
    environment = os.environ | {"SOURCE_DATE_EPOCH": "1700000000"}
    done = project.publish(status=1, timeout=120, env=environment)
    output = done.stdout + done.stderr
    assert "Traceback" not in output
    named = truncated, dangling, loop, gone, *fifos, wide
    for path in named:
        assert output.count(path.name) == 1, path
    page = (project.html / "index.html").read_text()
    [problems] = re.findall("could not be read</h2>(.*?)</ul>", page, re.DOTALL)
    assert problems.count("<li>") == len(named)
    assert sum(series["last"] is not None for series in project.index["series"]) > 10
    by_asv = tree(project.html)
    command = sys.executable, "-m", "asv_watch.cli", "publish"
    [line] = run(*command, cwd=project.root, env=environment, status=1).stderr.splitlines()
    assert line.startswith("asv-watch: the site was published without results/")
    assert tree(project.html) == by_asv
