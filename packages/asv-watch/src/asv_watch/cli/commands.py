"""Every subcommand of ``asv-watch``: its function and its text in ``--help``.

To add a subcommand, write a function whose parameters are its options, in a module that bears its
name or in the ``command`` of a room, and add an entry here. The module is imported when the
subcommand is called, because ``asv-watch --help`` should not wait for asv and numpy.
"""

from dataclasses import dataclass

CONTINUES = "the same command continues where it stopped"
KEPT = "finished rounds are kept, and the same command continues"


@dataclass(frozen=True, slots=True)
class Command:
    """One subcommand."""

    function: str
    """Its module and name, ``asv_watch.bench:bench``. It returns the exit status, or
    ``None`` for 0."""
    help: str
    interrupted: str = ""
    """What is kept after Ctrl-C, for the message."""
    examples: str = ""


COMMANDS = {
    "bench": Command(
        "asv_watch.bench:bench",
        "Measure the cases of HEAD that have no result yet, and publish the site.",
        CONTINUES,
    ),
    "nightly": Command(
        "asv_watch.night.command:nightly",
        "Measure every commit that is not measured yet, most urgent first, and publish the site.",
        CONTINUES,
    ),
    "compare": Command(
        "asv_watch.compare.command:compare",
        "Compare two commits or releases, with interleaved rounds.",
        KEPT,
    ),
    "gate": Command(
        "asv_watch.gate.command:gate",
        "Decide if a pull request is slower than its merge base in the cases that it touches.",
        "nothing was written",
        "Examples: asv-watch gate; asv-watch gate --base origin/main --limit 40min --threshold 5% "
        "--comment gate.md",
    ),
    "bisect": Command(
        "asv_watch.bisect:bisect",
        "Find the commit, or the release of a requirement, that changed a case.",
        "the comparisons so far are stored",
    ),
    "explain": Command(
        "asv_watch.explain:explain",
        "Name the operators that account for a difference, from profiles of both sides.",
        "nothing was printed",
    ),
    "calibrate": Command(
        "asv_watch.compare.calibrate:calibrate",
        "Compare HEAD with itself, which shows how noisy this machine is.",
        KEPT,
    ),
    "releases": Command(
        "asv_watch.releases.command:releases",
        "Compare the releases of a requirement, and list what each changed.",
        CONTINUES,
    ),
    "report": Command(
        "asv_watch.publish:report",
        "Print the newest changes for an issue or an e-mail: size, interval, commits and cause.",
    ),
    "results": Command(
        "asv_watch.results:results",
        "Check the stored results, and name each fault.",
    ),
    "publish": Command(
        "asv_watch.publish:publish",
        "Write the site from the stored results.",
        "the site is as it was before",
    ),
}
