import pytest
from django.core.exceptions import ValidationError
from hypothesis import given, strategies as st

from posts import markup


def test_signs_that_are_no_markup_are_shown_literally() -> None:
    typed = '<< Допоможіть >> 5 < 10 & "так" <3'

    html = markup.normalise(typed)

    assert html == '&lt;&lt; Допоможіть &gt;&gt; 5 &lt; 10 &amp; "так" &lt;3'
    assert markup.visible_text(html) == typed


@pytest.mark.parametrize(
    ("typed", "stored"),
    [
        ("<B>гучно</B >", "<b>гучно</b>"),
        ("<a href='https://example.org/?a=1&b=2'>звіт</a>", '<a href="https://example.org/?a=1&amp;b=2">звіт</a>'),
        ('<span class="tg-spoiler">таємниця</span>', '<span class="tg-spoiler">таємниця</span>'),
        ("<blockquote expandable>довго</blockquote>", "<blockquote expandable>довго</blockquote>"),
        ('<pre><code class="language-c++">a<b</code></pre>', '<pre><code class="language-c++">a&lt;b</code></pre>'),
        ("a &lt; b &quot;&#39;&nbsp;", "a &lt; b \"'&amp;nbsp;"),  # Telegram knows four names only
        ("один\r\nдва\rтри", "один\nдва\nтри"),
        ("нуль\x00&#0;", "нуль\N{REPLACEMENT CHARACTER}"),
        ("<!-- примітка -->", "&lt;!-- примітка --&gt;"),
        ('<a href="https://example.org>', '&lt;a href="https://example.org&gt;'),
    ],
)
def test_markup_is_stored_as_telegram_writes_it(typed: str, stored: str) -> None:
    assert markup.normalise(typed) == stored


@pytest.mark.parametrize(
    ("typed", "reason"),
    [
        ("<div>текст</div>", "<div> is unknown"),
        ("рядок<br>рядок", "<br> is unknown"),
        ("<b>текст", "<b> is not closed"),
        ("текст</i>", "</i> closes nothing"),
        ("<b><i>текст</b></i>", "</b> closes nothing"),
        ("<b><b>текст</b></b>", "<b> stands inside another"),
        ("<code><b>текст</b></code>", "<b> stands inside code"),
        ('<b class="x">текст</b>', "<b> is not written"),
        ("<a>текст</a>", "<a> is not written"),
        ('<a href="tg://user?id=1">текст</a>', "tg://user?id=1 does not work"),
        ('<a href="javascript:alert(1)">текст</a>', "javascript:alert(1) does not work"),
    ],
)
def test_broken_markup_is_refused_with_its_tag(typed: str, reason: str) -> None:
    with pytest.raises(ValidationError) as refusal:
        markup.normalise(typed)

    assert reason in refusal.value.messages[0]


def test_a_hundred_tags_pass_and_one_more_is_refused() -> None:
    markup.normalise("<i>я</i>" * 100)

    with pytest.raises(ValidationError, match="101 tags"):
        markup.normalise("<i>я</i>" * 101)


def test_length_counts_what_is_read_in_utf16_units() -> None:
    assert markup.visible_length("<b>Ї</b>&amp;🚑") == 4


@given(st.text())
def test_plain_text_survives_being_stored(typed: str) -> None:
    escaped = typed.replace("&", "&amp;").replace("<", "&lt;")

    shown = markup.visible_text(markup.normalise(escaped))

    assert shown == markup.visible_text(escaped)
    assert set(typed) - set(shown) <= {chr(code) for code in (*range(32), *range(127, 160), *range(0xD800, 0xE000))}


@given(
    st.text(alphabet="<>/&;\"'=# abiu39хї\n")
    | st.lists(st.sampled_from(["<b>", "</b>", "<i>", "</i>", "&", "<", "ї"])).map("".join)
)
def test_normalising_again_changes_nothing(typed: str) -> None:
    try:
        html = markup.normalise(typed)
    except ValidationError:
        return

    assert markup.normalise(html) == html
    assert markup.visible_text(html) == markup.visible_text(typed)
