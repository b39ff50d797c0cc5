"""Text that the page's script writes is what publishing would write."""

from hypothesis import given, settings
from hypothesis import strategies as st

from asv_watch.text import quantities
from tests.js.node import evaluate

UNITS = ("seconds", "bytes", "samples/s", "FLOP", "ratio", "dispatches")


def test_a_csv_cell_is_never_a_formula_and_a_markdown_cell_breaks_no_table() -> None:
    cells = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "a,b", 'say "x"', "two\nlines", -1.5, None]
    assert evaluate("page/save.js", "argument.map(module.csvField)", cells) == [
        "'=1+1", "'+1", "'-1", "'@SUM(A1)", "'\t=1",
        '"a,b"', '"say ""x"""', '"two\nlines"', "-1.5", "",
    ]  # fmt: skip
    sheet = {"head": ["case"], "rows": [["a | b\n<i>"]]}
    text = evaluate("page/save.js", "module.markdownText('x', argument)", sheet)
    assert text == "### x\n\n| case |\n| --- |\n| a \\| b \\<i\\> |\n"


def _numbers(smallest: int, largest: int) -> st.SearchStrategy[list[float]]:
    """Numbers with five digits, the most that data files store."""
    powers = st.integers(smallest, largest)
    number = st.builds("{}e{}".format, st.integers(10_000, 99_999), powers).map(float)
    return st.lists(number, min_size=20, max_size=50)


_RATIOS = st.floats(0.01, 100)


@settings(max_examples=8)
@given(_numbers(-13, 8), _numbers(-6, -3), st.lists(st.tuples(_RATIOS, _RATIOS), min_size=20))
def test_numbers_are_written_as_in_the_data(
    values: list[float], ratios: list[float], intervals: list[tuple[float, float]]
) -> None:
    scales = [quantities.unit_scale(unit) for unit in UNITS]
    shown = evaluate(
        "text/format.js",
        "[...argument.scales.flatMap("
        "scale => argument.values.map(value => module.formatValue(value, {scale}))), "
        "...argument.ratios.map(ratio => module.formatChange(ratio)), "
        "...argument.intervals.map(interval => module.formatInterval(interval))]",
        {"scales": scales, "values": values, "ratios": ratios, "intervals": intervals},
    )
    wanted = [
        *(quantities.quantity(value, unit) for unit in UNITS for value in values),
        *map(quantities.change, ratios),
        *map(quantities.interval, intervals),
    ]
    for text, expected in zip(shown, wanted, strict=True):
        words = zip(text.split(), expected.split(), strict=True)
        assert all(_is_near(*pair) for pair in words), (text, expected)


def _is_near(word: str, expected: str) -> bool:
    """Tell whether words agree but for the rounding of a half, which languages differ in."""
    if word == expected:
        return True
    plain = (each.replace("\N{MINUS SIGN}", "-").replace(",", "") for each in (word, expected))
    one, two = (float(each.lstrip("±")) for each in plain)
    last_digit = 10.0 ** -len(expected.partition(".")[2])
    return abs(one - two) < 1.01 * last_digit or abs(one / two - 1) < 0.011


def test_an_interval_of_cpu_time_names_its_clock() -> None:
    counted = evaluate("text/format.js", "module.plural(argument, 'case')", 1365)
    assert counted == quantities.counted(1365, "case") == "1,365 cases"
    shown = evaluate("text/format.js", 'module.formatInterval(argument, "process")', (1.04, 1.06))
    assert shown == quantities.interval((1.04, 1.06), "process")


def test_addresses_keep_what_they_are_given() -> None:
    address = "module.addressOf('timeline', argument)"
    params = {"s": ["a.b('x', 5)", "%", "c&d=e"], "constructor": ["1"]}
    state = evaluate("address.js", f"module.parseAddress({address})", params)
    assert state == {"view": "timeline", "params": params}
