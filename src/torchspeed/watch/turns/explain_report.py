"""The report of an explanation: Markdown, aligned for the terminal."""

from __future__ import annotations

from torchspeed.watch.turns.explain import Explanation, OperatorDifference
from torchspeed.watch.turns.markdown import table

_ROWS = 10


def report(explanation: Explanation, before: str, after: str) -> str:
    """The operators that account for the difference, the changed kernels, and a summary."""
    clear = [operator for operator in explanation.operators if operator.clear]
    old, new = explanation.seconds
    parts = [f"**{after}** against **{before}**"]
    if clear:
        head = ("operator", "input shapes", "calls", "self time before", "after", "difference")
        parts.append(table(head, [_row(operator) for operator in clear[:_ROWS]]))
    for kernel in explanation.kernels:
        parts.append(
            f"oneDNN {kernel.primitive} {kernel.problem}: "
            f"{', '.join(kernel.before) or 'not run'} → {', '.join(kernel.after) or 'not run'}"
        )
    parts.append(
        f"One call takes {_ms(old)} in its operators before and {_ms(new)} after, "
        f"{_signed(new - old)}. {_summary(clear, new - old)}"
    )
    return "\n\n".join(parts)


def _summary(clear: list[OperatorDifference], total: float) -> str:
    same_direction = [operator for operator in clear if operator.difference * total > 0]
    if not same_direction:
        return "No operator differs clearly from its own noise."
    first = same_direction[0]
    return f"The largest part is {first.name}: {_signed(first.difference)}."


def _row(operator: OperatorDifference) -> tuple[str, ...]:
    calls = " → ".join(f"{count:g}" for count in dict.fromkeys(operator.calls))
    before, after = operator.seconds
    return (
        f"`{operator.name}`",
        operator.shapes,
        calls,
        _ms(before),
        _ms(after),
        _signed(operator.difference),
    )


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:.4g} ms"


def _signed(seconds: float) -> str:
    return f"{seconds * 1e3:+.4g} ms"
