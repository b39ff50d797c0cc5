"""Text that the page's script writes is what publishing would write."""

from hypothesis import given, settings
from hypothesis import strategies as st

from asv_watch.text import quantities
from tests.js.node import evaluate

UNITS = ("seconds", "bytes", "samples/s", "FLOP", "ratio", "dispatches")


def test_a_csv_cell_is_never_a_formula() -> None:
    cells = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "a,b", 'say "x"', "two\nlines", -1.5, None]
    assert evaluate("page/save.js", "argument.map(module.csvField)", cells) == [
        "'=1+1", "'+1", "'-1", "'@SUM(A1)", "'\t=1",
        '"a,b"', '"say ""x"""', '"two\nlines"', "-1.5", "",
    ]  # fmt: skip


def test_markdown_cells_cannot_break_the_table() -> None:
    sheet = {"head": ["case"], "rows": [["a | b\n<i>"]]}
    text = evaluate("page/save.js", "module.markdownText('x', argument)", sheet)
    assert text == "### x\n\n| case |\n| --- |\n| a \\| b \\<i\\> |\n"


def _numbers(smallest: int, largest: int) -> st.SearchStrategy[list[float]]:
    """Numbers with five digits, the most that data files store."""
    number = st.builds(
        lambda digits, power: float(f"{digits}e{power}"),
        st.integers(10_000, 99_999),
        st.integers(smallest, largest),
    )
    return st.lists(number, min_size=20, max_size=50)


@settings(max_examples=8)
@given(_numbers(-13, 8))
def test_values_are_written_as_in_the_data(values: list[float]) -> None:
    scales = [quantities.unit_scale(unit) for unit in UNITS]
    shown = evaluate(
        "text/format.js",
        "argument.scales.map(scale => argument.values.map(v => module.formatValue(v, {scale})))",
        {"values": values, "scales": scales},
    )
    for unit, texts in zip(UNITS, shown, strict=True):
        for value, text in zip(values, texts, strict=True):
            assert _near(text, quantities.quantity(value, unit)), (value, unit)


@settings(max_examples=8)
@given(_numbers(-6, -3))
def test_changes_are_written_as_in_the_data(ratios: list[float]) -> None:
    shown = evaluate("text/format.js", "argument.map(r => module.formatChange(r))", ratios)
    for ratio, text in zip(ratios, shown, strict=True):
        assert _near(text, quantities.change(ratio)), ratio


@settings(max_examples=8)
@given(st.lists(st.tuples(st.floats(0.01, 100), st.floats(0.01, 100)), min_size=20))
def test_intervals_are_written_as_in_the_data(intervals: list[tuple[float, float]]) -> None:
    shown = evaluate("text/format.js", "argument.map(module.formatInterval)", intervals)
    for interval, text in zip(intervals, shown, strict=True):
        ends, wanted = text.removesuffix(" %"), quantities.interval(interval).removesuffix(" %")
        for end, expected in zip(ends.split(" to "), wanted.split(" to "), strict=True):
            assert _near(end, expected), interval


def test_an_interval_of_cpu_time_names_its_clock() -> None:
    shown = evaluate("text/format.js", 'module.formatInterval(argument, "process")', (1.04, 1.06))
    assert shown == quantities.interval((1.04, 1.06), "process")


def _near(text: str, expected: str) -> bool:
    """Tell whether two texts agree but for the rounding of a half, which languages differ in."""
    if text == expected:
        return True
    one, two = (float(_number(entry)) for entry in (text, expected))
    last_digit = 10.0 ** -len(_number(expected).partition(".")[2])
    close = abs(one - two) < 1.01 * last_digit or abs(one / two - 1) < 0.011
    return close and text.split()[1:] == expected.split()[1:]


def _number(text: str) -> str:
    digits = (
        text.replace("\N{MINUS SIGN}", "-").replace(",", "").replace("\N{NO-BREAK SPACE}", " ")
    )
    return digits.split()[0].lstrip("±")


def test_addresses_keep_what_they_are_given() -> None:
    address = "module.addressOf('timeline', argument)"
    params = {"s": ["a.b('x', 5)", "%", "c&d=e"], "constructor": ["1"]}
    state = evaluate("address.js", f"module.parseAddress({address})", params)
    assert state == {"view": "timeline", "params": params}
