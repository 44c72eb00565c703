"""The HTML that Telegram reads; refusals are its own words (td: parse_html, and calls to the real service)."""

import contextlib
from html import escape

import pytest
from hypothesis import given, strategies as st

from donate1024.sandbox import Json
from donate1024.sandbox.entities import noticed, utf16_length
from donate1024.sandbox.markup import from_html, from_plain
from donate1024.sandbox.refusals import Refused

SURROGATE = (
    "Text contains invalid Unicode characters after decoding HTML entities, check for unmatched surrogate code units"
)


@pytest.mark.parametrize(
    ("html", "description"),
    [
        ("<br>", 'Unsupported start tag "br" at byte offset 0'),
        ("ї<SCRIPT>", 'Unsupported start tag "script" at byte offset 2'),
        ("<a@b>", 'Unsupported start tag "a@b" at byte offset 0'),
        ("5 < 10", 'Unsupported start tag "" at byte offset 2'),
        ("Оля <3", "Unclosed start tag at byte offset 7"),
        ("<a href", 'Unclosed start tag "a" at byte offset 0'),
        ("<a href=", 'Unclosed start tag "a" at byte offset 0'),
        ('<a href="x"', "Unclosed start tag at byte offset 0"),
        ('<a href="x', "Unclosed start tag at byte offset 0"),
        ('<a ="x">y</a>', 'Empty attribute name in the tag "a" at byte offset 0'),
        ("<a href=x/>y</a>", "Unexpected end of name token at byte offset 8"),
        ("<span>x</span>", 'Tag "span" must have class "tg-spoiler" at byte offset 0'),
        ("x</b>", "Unexpected end tag at byte offset 1"),
        ("<b>x</b", "Unclosed end tag at byte offset 4"),
        ("<b><i>test</b></i>", 'Unmatched end tag at byte offset 10, expected "</i>", found "</b>"'),
        ("<b>unclosed", 'Can\'t find end tag corresponding to start tag "b"'),
        ('<tg-emoji emoji-id="x">y</tg-emoji>', "Invalid custom emoji identifier specified"),
        ("&#xD83D;", SURROGATE),
    ],
)  # fmt: skip
def test_markup_that_telegram_refuses_is_refused_in_its_words(html: str, description: str) -> None:
    with pytest.raises(Refused) as refused:
        from_html(html)

    assert refused.value.description == f"Bad Request: can't parse entities: {description}"


@pytest.mark.parametrize(
    ("html", "entities"),
    [
        ("<b>x</b>", [{"type": "bold", "offset": 0, "length": 1}]),
        ("<STRONG>x</strong>", [{"type": "bold", "offset": 0, "length": 1}]),
        ("🚑<em>x</em>", [{"type": "italic", "offset": 2, "length": 1}]),
        ("<ins>🚑</ins>", [{"type": "underline", "offset": 0, "length": 2}]),
        ("<del>x</>", [{"type": "strikethrough", "offset": 0, "length": 1}]),
        ('<span class="tg-spoiler">x</span>', [{"type": "spoiler", "offset": 0, "length": 1}]),
        ("<tg-spoiler>x</tg-spoiler>", [{"type": "spoiler", "offset": 0, "length": 1}]),
        ("<blockquote expandable>x</blockquote>", [{"type": "expandable_blockquote", "offset": 0, "length": 1}]),
        (
            '<tg-emoji emoji-id="53">x</tg-emoji>',
            [{"type": "custom_emoji", "offset": 0, "length": 1, "custom_emoji_id": "53"}],
        ),
        (
            '<pre><code class="language-py">x</code></pre>',
            [{"type": "pre", "offset": 0, "length": 1, "language": "py"}],
        ),
        ('<code class="language-py">x</code>', [{"type": "code", "offset": 0, "length": 1}]),
        (
            "<a href='https://X.ua?a=1&amp;b=2'>x</a>",
            [{"type": "text_link", "offset": 0, "length": 1, "url": "https://x.ua/?a=1&b=2"}],
        ),
        ("<a>x.ua</a>", [{"type": "text_link", "offset": 0, "length": 4, "url": "http://x.ua/"}]),
        ("<a href='no link'>x</a>", []),
        ("<b></b>x", []),
        (
            "<i><b>x</b></i>",
            [{"type": "bold", "offset": 0, "length": 1}, {"type": "italic", "offset": 0, "length": 1}],
        ),
    ],
)
def test_every_tag_becomes_its_entity(html: str, entities: list[Json]) -> None:
    assert from_html(html).entities == entities


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("&lt;3 &amp; &quot;так&quot; &gt;", '<3 & "так" >'),
        ("&#60;&#x1F691;&lt", "<🚑<"),
        ("R&D &nbsp; &ltx; &#0; &#9999999999;", "R&D &nbsp; &ltx; &#0; &#9999999999;"),
        ("\n  x <b> y</b> \n", "x  y"),
    ],
)
def test_references_are_read_as_telegram_reads_them(html: str, text: str) -> None:
    assert from_html(html).text == text


def test_cut_blanks_move_the_entities() -> None:
    marked = from_html("\n <b>x \n</b> ")

    assert (marked.text, marked.entities) == ("x", [{"type": "bold", "offset": 0, "length": 1}])


def test_more_than_a_hundred_entities_are_refused() -> None:
    assert len(from_html("<b>x</b>" * 100).entities) == 100
    with pytest.raises(Refused, match="ENTITIES_TOO_LONG"):
        from_html("<b>x</b>" * 101)


def test_plain_text_stays_as_it_is() -> None:
    assert from_plain(" <b>&lt; ").text == "<b>&lt;"


def test_commands_and_addresses_are_noticed() -> None:
    found = noticed("🚑 /start@bot, https://x.ua/a?b=1. 1/2")

    assert [(entity["type"], entity["offset"], entity["length"]) for entity in found] == [
        ("bot_command", 3, 10),
        ("url", 15, 18),
    ]


words = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zs", "Zl", "Zp"]), min_size=1, max_size=8)
tags = st.sampled_from([("b", "bold"), ("i", "italic"), ("u", "underline"), ("s", "strikethrough")])


@st.composite
def nested(draw: st.DrawFn, depth: int = 3) -> tuple[str, str, list[Json]]:
    """Some HTML, the text in it, and its entities, outer ones first."""
    html, text, entities = "", "", []
    for _ in range(draw(st.integers(1, 3))):
        if depth and draw(st.booleans()):
            (tag, kind), (inner_html, inner_text, inner) = draw(tags), draw(nested(depth=depth - 1))
            offset = utf16_length(text)
            entities.append({"type": kind, "offset": offset, "length": utf16_length(inner_text)})
            entities += [entity | {"offset": entity["offset"] + offset} for entity in inner]
            html, text = f"{html}<{tag}>{inner_html}</{tag}>", text + inner_text
        else:
            word = draw(words)
            html, text = html + escape(word), text + word
    return html, text, entities


def _cut(text: str, entity: Json) -> str:
    units = text.encode("utf-16-le")
    return units[2 * entity["offset"] : 2 * (entity["offset"] + entity["length"])].decode("utf-16-le")


@given(nested())
def test_valid_markup_comes_out_as_it_was_meant(written: tuple[str, str, list[Json]]) -> None:
    html, text, entities = written

    marked = from_html(html.replace("&#x27;", "&#39;"))

    def in_order(found: list[Json]) -> list[tuple[int, int, str]]:
        asked_for = (entity for entity in found if entity["type"] not in {"url", "bot_command"})
        return sorted((entity["offset"], entity["length"], entity["type"]) for entity in asked_for)

    assert marked.text == text
    assert in_order(marked.entities) == in_order(entities)
    assert all(_cut(marked.text, entity) for entity in marked.entities)


@given(st.text(st.sampled_from("<>/&;#x1ab='\" \n\0\v🚑їspantgcode-")) | st.text())
def test_nothing_crashes_the_parser(html: str) -> None:
    with contextlib.suppress(Refused):
        marked = from_html(html)
        assert all(0 <= entity["offset"] < utf16_length(marked.text) for entity in marked.entities)
