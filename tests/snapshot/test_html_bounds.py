"""What hostile HTML costs: in proportion to its length, and no more."""

from __future__ import annotations

import time

import pytest

from bridge.snapshot import snapshot_html
from bridge.snapshot.plain_html.parse import parse_html

MANY = " ".join(f"a{index}=1" for index in range(40_000))


@pytest.mark.parametrize(
    "before",
    [
        "<p ",
        "<p/",
        '<!--<a x="--><p ',
        "<!--><p ",
        "<title><a x='</title><p ",
        '<script>if(a<b && x="</script ><p ',
        "<script><!--<script></script>\"<a x='</script>--></script><p ",
        "</><p ",
        "</3 x='><p ",
        "<!x '><p ",
        "<?x '><p ",
        "</p x='><p ' ><p ",
        "<p\v'=\"'><p ",
        "<p \xa0=' '><p ",
        "<iframe><a x='</iframe><p ",
        "<p a='1'b=\"'><p ",
    ],
)
def test_the_attributes_of_a_tag_are_bounded_wherever_it_hides(before: str) -> None:
    started = time.process_time()
    tree = parse_html(f"<body>{before}{MANY}>x<b>end</b>")

    assert max(len(element.attrib) for element in tree.iter()) <= 210
    assert time.process_time() - started < 1.0  # libxml2 alone takes more than that for each of them, and its square


@pytest.mark.parametrize("value", ["'>'", '">"', '\n\t">"', "'<b>'"])
def test_the_attributes_of_a_tag_are_bounded_also_where_their_values_look_like_its_end(value: str) -> None:
    tree = parse_html(f"<body><p {' '.join(f'a{index}={value}' for index in range(1_000))}>x<b>end</b>")

    assert 150 < max(len(element.attrib) for element in tree.iter()) <= 210


def test_what_stands_in_front_and_behind_of_many_attributes_stays() -> None:
    result = snapshot_html(f'<p>before</p><button {MANY}>Buy now</button><a href="/x" {MANY}>After</a>')

    assert '"Buy now"' in result.text
    assert '"After"' in result.text


@pytest.mark.parametrize(
    "piece",
    [
        "<a ",
        "<a<a",
        "<a x='",
        "<a x=\"<b y='",
        "<!--",
        "<script>",
        "</",
        "<a b=c>",
        "<a\n",
        "=",
        '="',
        "='",
        "= ",
        "=\"'",
    ],
)
def test_looking_for_attributes_takes_time_in_proportion_to_the_text(piece: str) -> None:
    def seconds(count: int) -> float:
        text = piece * count
        started = time.process_time()
        parse_html(text)
        return time.process_time() - started

    small, large = (min(seconds(count) for _ in range(3)) for count in (10_000, 40_000))
    assert large < 10 * max(small, 0.02)
