"""Measure how much longer a newer torch takes to draw the random masks of dropout on this CPU.

    OLD_PYTHON docs/dropout_on_cpus.py OLD_PYTHON NEW_PYTHON

Both are interpreters of environments with torch. Each gets a process, and the two are timed in
turns A B B A, so that noise affects them equally. A turn's time is the fastest of three calls
after one that is not counted. Only the number of threads is set: the allocator has the C
library's defaults, unless you set its MALLOC_* variables, which are printed. More threads than
idle cores wait for each other, and what they take says nothing.
"""

from __future__ import annotations

import argparse
import datetime
import os
import sys
import time
from collections.abc import Callable
from functools import partial
from statistics import median, quantiles
from subprocess import DEVNULL, PIPE, Popen
from typing import IO, cast

import torch
from torch import nn


def _cases(batch: int) -> dict[str, Callable[[], object]]:
    source, target, gradient = (torch.randn(batch, steps, 128) for steps in (96, 144, 144))
    causal = nn.Transformer.generate_square_subsequent_mask(144)
    cases: dict[str, Callable[[], object]] = {}
    for dropout in (0.1, 0.0):
        model = nn.Transformer(128, 8, 2, 1, 512, dropout, "gelu", batch_first=True)

        def train(model: nn.Module = model) -> None:
            model.zero_grad()
            model(source, target, tgt_mask=causal, tgt_is_causal=True).backward(gradient)

        cases[f"training `nn.Transformer`, dropout {dropout:g}"] = train
    for size in (batch * 144 * 128, batch * 8 * 144 * 144):  # of tokens, of attention
        name = f"`torch.empty({size}).bernoulli_(0.9)`"
        cases[name] = partial(lambda size: torch.empty(size).bernoulli_(0.9), size)
    return cases


def _work(batch: int) -> None:
    """Print torch's version and the cases; answer each line, threads and case, with ms."""
    cases = _cases(batch)
    print(torch.__version__, *cases, sep="\t", flush=True)
    for line in sys.stdin:
        threads, index = map(int, line.split())
        torch.set_num_threads(threads)
        times = []
        for _ in range(4):
            start = time.perf_counter()
            list(cases.values())[index]()
            times.append(1000 * (time.perf_counter() - start))
        print(min(times[1:]), flush=True)


def _start(python: str, arguments: list[str]) -> tuple[IO[str], IO[str], list[str]]:
    command = [python, __file__, *arguments, "--worker"]
    try:
        process = Popen(command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, text=True)
    except OSError as error:
        sys.exit(f"{python}: {error.strerror}; name the interpreter of an environment with torch")
    questions, answers = cast("IO[str]", process.stdin), cast("IO[str]", process.stdout)
    if not (header := answers.readline()):
        sys.exit(f"{python}: cannot run {__file__}; it needs torch 2.1 or later")
    return questions, answers, header.strip().split("\t")


def _compare(pythons: list[str], threads: list[int], batch: int, rounds: int) -> None:
    sides = [_start(python, [*pythons, "--batch", str(batch)]) for python in pythons]
    (old, *cases), (new, *_) = (header for _, _, header in sides)
    malloc = [f"{name}={value}" for name, value in os.environ.items() if "MALLOC_" in name]
    print(f"{datetime.date.today()}, {os.cpu_count()} cores, {rounds} rounds, batch {batch}.")
    print(f"Allocator: {' '.join(malloc) or 'defaults'}\n")
    print(f"| what | threads | torch {new} / {old} | middle half | old, ms | new, ms |")
    print("|---|---|---|---|---|---|")
    for count in threads:
        for index, case in enumerate(cases):
            times: list[list[float]] = [[], []]
            for side in (0, 1, 1, 0) * rounds:
                questions, answers, _ = sides[side]
                print(count, index, file=questions, flush=True)
                times[side].append(float(answers.readline()))
            pairs = [zip(side[::2], side[1::2], strict=True) for side in times]
            ratios = [sum(after) / sum(before) for before, after in zip(*pairs, strict=True)]
            low, ratio, high = quantiles(ratios, n=4)
            before, after = (f"{median(side):.2f}" for side in times)
            shown = f"{ratio:.2f} | {low:.2f} to {high:.2f} | {before} | {after}"
            print(f"| {case} | {count} | {shown} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("pythons", nargs=2, metavar="PYTHON", help="the old and the new one")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.rounds < 2 or min(options.batch, *options.threads) < 1:
        parser.error("--rounds must be at least 2, --batch and --threads at least 1")
    if options.worker:
        _work(options.batch)
    else:
        _compare(options.pythons, options.threads, options.batch, options.rounds)
