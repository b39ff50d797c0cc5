"""Stable names for addresses, file names and headings.

Addresses are kept by people, so a name depends on the thing alone, never on
what else is published.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Collection, Mapping

from asv_watch.judge.segments import Event
from asv_watch.records.records import Environment
from asv_watch.versions.version import Version, distribution

_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]+")
_LONGEST_SLUG = 100  # characters; with folder and suffix well below what file systems allow


def digest(text: str, length: int = 6) -> str:
    """Return a short stable digest of a text: `length` hexadecimal characters."""
    raw = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16)
    return raw.hexdigest()[:length]


def slug(name: str) -> str:
    """Return a name that is safe as a file name on every file system.

    A name that is safe already, and lower case apart from class names, stays
    readable; where something had to be replaced, a digest makes it unique.
    """
    safe = _UNSAFE.sub("-", name).strip("-.")[:_LONGEST_SLUG]
    return safe if safe == name else f"{safe}-{digest(name, 8)}"


def environment_id(environment: Environment) -> str:
    """Return a short, stable id: the main requirement, and a digest of the rest."""
    readable = str(environment.release).replace(" ", "-") or "env"
    return f"{slug(readable)}-{digest(environment.name)}"


def environment_labels(environments: Collection[Environment]) -> dict[str, str]:
    """Return the label of each environment for headings, by asv's name of it.

    The main requirement is always named. Another one, the Python or a variable is named only if
    the environments differ in it, and the Python if nothing else is named. No two environments
    have the same label: those that would are called by asv's name.
    """
    facts_of = {
        each.name: {distribution(name): text for name, text in each.requirements.items() if text}
        | ({"Python": each.python} if each.python else {})
        | dict(sorted(each.variables.items()))
        for each in environments
    }
    all_facts = dict.fromkeys(fact for facts in facts_of.values() for fact in facts)
    main = {environment.release.name for environment in environments}
    named = [
        fact
        for fact in all_facts
        if fact in main or len({facts.get(fact) for facts in facts_of.values()}) > 1
    ]
    labels = {
        name: " · ".join(f"{fact} {facts[fact]}".strip() for fact in named if fact in facts)
        or (f"Python {facts['Python']}" if "Python" in facts else name)
        for name, facts in facts_of.items()
    }
    return _disambiguate(labels, {name: name for name in labels})


def _disambiguate(labels: Mapping[str, str], longer: Mapping[str, str]) -> dict[str, str]:
    count = Counter(labels.values())
    return {name: label if count[label] == 1 else longer[name] for name, label in labels.items()}


def short_labels(environments: Collection[Environment]) -> dict[str, str]:
    """Return the name of each environment for sentences: its main requirement, or its label."""
    labels = environment_labels(environments)
    short = {
        environment.name: str(environment.release) or labels[environment.name]
        for environment in environments
    }
    return _disambiguate(short, labels)


def event_text(event: Event, labels: Mapping[str, str]) -> str:
    """Return the text of an event for charts and lists."""
    if event.fact == "environment":
        return f"first measured with {labels[event.environment]}"
    return f"{event.fact}: {event.before or 'nothing'} → {event.after or 'nothing'}"


def setting(name: str, value: str) -> str:
    """Return a parameter as displayed: ``size 5``, but ``sparse`` and not ``form sparse``."""
    is_word = value[:1].isalpha() and value not in {"True", "False", "None"}
    return value if is_word else f"{name} {value}"


_EXCEPTION = re.compile(
    r"^(?:[A-Za-z_]\w*\.)*(?:[A-Z]\w*)?(?:Error|Exception|Interrupt|Exit|Warning|Failed)\b"
)
_REPEATED = re.compile(r"^([\w.]+: )\1+")
"""An exception that several levels of a program wrapped in one of the same name."""
_FRAME = re.compile(r'^(?:Traceback \(most recent call last\):|  File "|\s+[\^~]+$)')
_LONGEST = 200  # characters of a line


def exception_line(message: str) -> str:
    """Find the line of the exception in what a failed case printed.

    That is the last line that starts with the name of an exception; without one the last
    line that is neither empty nor part of a traceback. The name of an exception is written once,
    and the line is cut at 200 characters.
    """
    lines = [line.rstrip() for line in message.splitlines() if line.strip()]
    named = [line for line in lines if _EXCEPTION.match(line)]
    others = [line.strip() for line in lines if not _FRAME.match(line)]
    line = _REPEATED.sub(r"\1", (named or others or [""])[-1])
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"


def version_names(before: Version, after: Version) -> tuple[str, str]:
    """Name two versions by their difference: their commits, their releases, or both."""
    releases = (str(before.release), str(after.release))
    commits = (before.commit[:8], after.commit[:8])
    if before.commit == after.commit:
        return releases
    if releases[0] == releases[1]:
        return commits
    return (f"{commits[0]} with {releases[0]}", f"{commits[1]} with {releases[1]}")
