from string import ascii_letters, digits
from urllib.parse import urlsplit

import pytest
from django.core.exceptions import ValidationError
from hypothesis import given, strategies as st

from posts import links
from posts.rails import Rail

JAR = "https://send.monobank.ua/jar/4g2vud36xP"


@pytest.mark.parametrize(
    "pasted",
    [
        JAR,
        "send.monobank.ua/jar/4g2vud36xP",
        "//send.monobank.ua/jar/4g2vud36xP",
        f"  {JAR} \n",
        f"\u200b{JAR}\ufeff",
        "HTTP://Send.Monobank.UA/jar/4g2vud36xP/",
        f"{JAR}?a=100&t=дякую#top",
        "https://send.monobank.ua/widget.html?jar=4CcgXWgoRV9G54VqCtuCz3s23em3i7uS&sendId=4g2vud36xP&type=qrp",
        "https://send.monobank.ua/widget/builder.html?longJarId=4CcgXWgoRV9G54VqCtuCz3s23em3i7uS&sendId=4g2vud36xP",
    ],
)
def test_a_jar_is_one_link_in_whatever_form_it_was_pasted(pasted: str) -> None:
    assert links.parse(pasted) == (Rail.MONOBANK, JAR)


@pytest.mark.parametrize(
    ("pasted", "rail", "link"),
    [
        (
            "https://send.monobank.ua/widget/builder.html?longJarId=4CcgXWgoRV9G",
            Rail.MONOBANK,
            "https://send.monobank.ua/widget.html?jar=4CcgXWgoRV9G",
        ),
        ("https://privat24.ua/send/a1b2c3", Rail.PRIVATBANK, "https://privat24.ua/send/a1b2c3"),
        ("https://next.privat24.ua/send/a1b2c3", Rail.PRIVATBANK, "https://next.privat24.ua/send/a1b2c3"),
        ("https://mobile-app.pumb.ua/Acky", Rail.PUMB, "https://mobile-app.pumb.ua/Acky"),
        ("https://e-com.novapay.ua/case/Er6QMU?og=true", Rail.NOVAPAY, "https://e-com.novapay.ua/case/Er6QMU"),
        (
            "https://www.paypal.com/donate/?hosted_button_id=X1",
            Rail.PAYPAL,
            "https://www.paypal.com/donate?hosted_button_id=X1",
        ),
        ("paypal.me/зірка", Rail.PAYPAL, "https://paypal.me/%D0%B7%D1%96%D1%80%D0%BA%D0%B0"),
    ],
)
def test_each_rail_is_known_by_its_link(pasted: str, rail: Rail, link: str) -> None:
    assert links.parse(pasted) == (rail, link)


@pytest.mark.parametrize(
    ("pasted", "reason"),
    [
        ("https://evil-privat24.ua/send/a", "evil-privat24.ua cannot be used"),
        ("https://privat24.ua.attacker.test/send/a", "privat24.ua.attacker.test cannot be used"),
        ("https://приклад.укр/збір?а=1&b=2", "xn--80aikifvh.xn--j1amh cannot be used"),
        ("https://send.mоnobank.ua/jar/a", "xn--"),  # a Cyrillic о
        ("https://send.monobank.ua@evil.test/jar/a", "hides where it leads"),
        (r"https://evil.test\.privat24.ua/send/a", "spaces or control characters"),
        ("https://evil.test%2f.privat24.ua/send/a", "no link"),
        ("https://send.monobank.ua:8443/jar/a", "port"),
        ("monobank://jar", "monobank://"),
        ("javascript:alert(1)", "port"),
        ("https://send.monobank.ua/", "not to a fundraiser"),
        ("https://send.monobank.ua/jar/../evil", "not to a fundraiser"),
        ("https://privat24.ua/send/a/../../login", "not to a fundraiser"),
        ("https://send.monobank.ua/widget.html?jar=<b>", "not to a fundraiser"),
        ("https://send.monobank.ua/jar/a b", "spaces or control characters"),
        ("https://send.monobank.ua/jar/a\x07", "spaces or control characters"),
        ("https://[::1/", "no link"),
        ("https://..privat24.ua/send/a", "no link"),
        ("", "no link"),
        (JAR + "x" * 3000, "3039 characters"),
    ],
)
def test_a_link_off_the_list_is_refused_with_the_reason(pasted: str, reason: str) -> None:
    with pytest.raises(ValidationError) as refusal:
        links.parse(pasted)

    assert reason in refusal.value.messages[0]


@given(
    st.text()
    | st.text(alphabet=ascii_letters + digits + ":/@.?#&=%\\-_[]").map(lambda tail: f"https://privat24.ua{tail}")
)
def test_what_passes_leads_to_a_known_host_and_stays_as_it_is(pasted: str) -> None:
    try:
        rail, link = links.parse(pasted)
    except ValidationError:
        return

    host = urlsplit(link).hostname or ""
    assert link.isascii()
    assert link.startswith("https://")
    assert any(
        host == known or host.endswith(f".{known}") for known in ("privat24.ua", "send.monobank.ua", "paypal.com")
    )
    assert links.parse(link) == (rail, link)
