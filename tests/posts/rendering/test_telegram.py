import json

import pytest
from django.core.exceptions import ValidationError
from django.utils import translation
from pytest_django import Settings

from posts.models import Fundraiser, PaymentMethod
from posts.rendering import telegram
from tests.factories import make_fundraiser, make_picture

pytestmark = pytest.mark.django_db

JAR = "https://send.monobank.ua/jar/SANDBOX001"


def test_the_message_has_title_text_and_goal() -> None:
    fundraiser = make_fundraiser(title="Пікап <3", text="Для <b>медиків</b> & водіїв", goal=120_000)

    message = telegram.render(fundraiser)

    assert message.text.startswith("<b>Пікап &lt;3</b>\n\nДля <b>медиків</b> &amp; водіїв\n\n🎯 ")
    assert message.text.endswith("<b>120\u00a0000\u00a0₴</b>")
    assert message.picture is None


def test_a_fundraiser_without_a_goal_has_no_line_about_it() -> None:
    fundraiser = make_fundraiser(title="Пікап", text="Для медиків")

    assert telegram.render(fundraiser).text == "<b>Пікап</b>\n\nДля медиків"


def test_a_jar_gets_amounts_above_its_link(settings: Settings) -> None:
    settings.PAYMENT_AMOUNTS = [50, 1024]
    fundraiser = make_fundraiser(link=JAR)

    amounts, (main,) = telegram.render(fundraiser).buttons

    assert amounts == [
        {"text": "50\u00a0₴", "url": f"{JAR}?a=50"},
        {"text": "1\u00a0024\u00a0₴", "url": f"{JAR}?a=1024"},
    ]
    assert main["url"] == JAR


def test_other_rails_and_switched_off_amounts_get_the_link_alone(settings: Settings) -> None:
    envelope = make_fundraiser(link="https://privat24.ua/send/a1")
    settings.JAR_AMOUNT_TEMPLATE = ""
    jar = make_fundraiser(link=JAR)

    assert [button["url"] for row in telegram.render(envelope).buttons for button in row] == [
        "https://privat24.ua/send/a1"
    ]
    assert [button["url"] for row in telegram.render(jar).buttons for button in row] == [JAR]


def test_other_ways_follow_as_links_and_accounts_to_copy() -> None:
    fundraiser = make_fundraiser(link=JAR)
    for position, (pasted, label) in enumerate(
        [("4111 1111 1111 1111", ""), ("paypal.me/volunteer", "Для друзів за кордоном")]
    ):
        method = PaymentMethod(fundraiser=fundraiser, position=position + 1, label=label)
        method.take(pasted)
        method.save()

    _amounts, _main, paypal, card = telegram.render(fundraiser).buttons

    assert paypal == [{"text": "Для друзів за кордоном", "url": "https://paypal.me/volunteer"}]
    assert card[0]["copy_text"] == {"text": "4111111111111111"}
    assert str(card[0]["text"]).endswith("…1111")


def test_the_same_message_whatever_language_the_curator_reads() -> None:
    fundraiser = make_fundraiser(goal=1000)

    with translation.override("uk"):
        ukrainian = telegram.render(fundraiser)
    with translation.override("en"):
        english = telegram.render(fundraiser)

    assert english == ukrainian
    assert json.loads(json.dumps(english.buttons)) == english.buttons


@pytest.mark.parametrize(("with_picture", "limit"), [(True, 1024), (False, 4096)])
def test_the_limit_counts_the_whole_message(*, with_picture: bool, limit: int) -> None:
    picture = make_picture() if with_picture else None
    fits = make_fundraiser(title="я", text="<i>" + "ї" * (limit - 3) + "</i>", picture=picture)
    too_long = make_fundraiser(title="я", text="ї" * (limit - 2), picture=picture)

    assert telegram.render(fits).length == limit
    with pytest.raises(ValidationError) as refusal:
        telegram.render(too_long)
    assert f"{limit + 1:,} of {limit:,} characters" in refusal.value.messages[0]


def test_emoji_count_as_two_for_telegram_may_count_them_so() -> None:
    fundraiser = make_fundraiser(title="я", text="ї" * 1000 + "🚑" * 60, picture=make_picture())

    with pytest.raises(ValidationError, match="1,123 of 1,024"):
        telegram.render(fundraiser)


def test_without_any_way_to_pay_nothing_is_rendered() -> None:
    fundraiser = Fundraiser.objects.create(title="Пікап", text="Для медиків")

    with pytest.raises(ValidationError, match="no way to pay"):
        telegram.render(fundraiser)


@pytest.mark.django_db
def test_more_buttons_than_telegram_takes_are_refused_with_the_count() -> None:
    fundraiser = make_fundraiser()
    for number in range(100):
        fundraiser.payment_methods.create(rail="monobank", link=f"https://send.monobank.ua/jar/MANY{number}")

    with pytest.raises(ValidationError, match="105"):
        telegram.render(fundraiser)
