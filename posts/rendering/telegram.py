"""A fundraiser as one Telegram message: the text, the payment buttons, the picture. No network, no clock."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.conf import settings
from django.core.exceptions import ValidationError
from django.template.loader import render_to_string
from django.utils import translation
from django.utils.formats import number_format
from django.utils.translation import gettext as _

from posts import links, markup
from posts.rails import Rail
from posts.rendering.money import money

if TYPE_CHECKING:  # the models check themselves by this module
    from posts.models import Fundraiser, PaymentMethod

# https://core.telegram.org/bots/api: sendMessage, sendPhoto. After the markup is parsed.
TEXT_LIMIT = 4096
CAPTION_LIMIT = 1024
BUTTON_LIMIT = 100  # more: "reply markup is too long"

Button = dict[str, object]


@dataclass(frozen=True)
class TelegramMessage:
    """What one sendMessage or sendPhoto call takes, as plain JSON values."""

    text: str  # Telegram's HTML
    buttons: list[list[Button]]  # the rows of an inline keyboard
    picture: str | None  # the digest of a Picture

    @property
    def length(self) -> int:
        return markup.visible_length(self.text)

    @property
    def limit(self) -> int:
        return CAPTION_LIMIT if self.picture else TEXT_LIMIT


def render(fundraiser: "Fundraiser") -> TelegramMessage:
    """The message that subscribers get, always in Ukrainian.

    Raises:
        ValidationError: if it is over a limit of Telegram's, or there is no way to pay.
    """
    message = compose(fundraiser, fundraiser.payment_methods.all())
    check(message)
    if not message.buttons:
        raise ValidationError(_("There is no way to pay. Add a link, a card or an IBAN."), code="no_way_to_pay")
    return message


def compose(fundraiser: "Fundraiser", methods: Iterable["PaymentMethod"]) -> TelegramMessage:
    """The message as it stands, also where it cannot be sent yet: the preview shows drafts too.

    Raises:
        ValidationError: if its markup is broken.
    """
    with translation.override("uk"):
        text = render_to_string(
            "posts/telegram_message.html",
            {
                "title": fundraiser.title,
                "text": markup.normalise(fundraiser.text).strip(),
                "goal": money(fundraiser.goal, fundraiser.currency) if fundraiser.goal else "",
            },
        )
        buttons = _buttons(list(methods))
    return TelegramMessage(text=markup.normalise(text).strip(), buttons=buttons, picture=fundraiser.picture_id)


def check(message: TelegramMessage) -> None:
    """Refuse what Telegram would refuse.

    Raises:
        ValidationError: with the count and the limit.
    """
    count = sum(len(row) for row in message.buttons)
    if count > BUTTON_LIMIT:
        raise ValidationError(
            _("%(count)s buttons, and Telegram takes %(limit)s: leave out some of the ways to pay."),
            code="too_many_buttons",
            params={"count": count, "limit": BUTTON_LIMIT},
        )
    if message.length > message.limit:
        raise ValidationError(
            _("%(count)s of %(limit)s characters, title and goal counted too: shorten the text by %(over)s."),
            code="too_long",
            params={
                "count": number_format(message.length, force_grouping=True),
                "limit": number_format(message.limit, force_grouping=True),
                "over": number_format(message.length - message.limit, force_grouping=True),
            },
        )


def _buttons(methods: list["PaymentMethod"]) -> list[list[Button]]:
    """The first link large, with amounts above it where the rail takes them; then the others, then accounts to copy."""
    linked = [method for method in methods if method.link]
    rows: list[list[Button]] = []
    if linked:
        main, *others = linked
        amounts = _amounts(main.link)
        rows += [amounts] if amounts else []
        rows.append([{"text": main.label or (_("Another sum") if amounts else _("Donate")), "url": main.link}])
        rows += [[{"text": str(method), "url": method.link}] for method in others]
    rows += [[_copying(method)] for method in methods if method.account]
    return rows


def _amounts(link: str) -> list[Button]:
    if not link.startswith(links.JAR) or not settings.JAR_AMOUNT_TEMPLATE:
        return []
    return [
        {"text": money(amount, "UAH"), "url": f"{link}?{settings.JAR_AMOUNT_TEMPLATE.format(amount=amount)}"}
        for amount in settings.PAYMENT_AMOUNTS
    ]


def _copying(method: "PaymentMethod") -> Button:
    if method.rail == Rail.CARD and not method.label:
        text = _("Copy the card's number, …%(end)s") % {"end": method.account[-4:]}
    else:
        text = _("Copy: %(what)s") % {"what": method}
    return {"text": text, "copy_text": {"text": method.account}}
