"""Fundraisers from a file: all of them, or none and every fault named."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.db import transaction
from django.utils.translation import gettext as _

from posts import markup, pictures
from posts.models import Fundraiser, PaymentMethod, WrongStatus

# The keys of an entry that fill one field each; INTERFACE.md names them all.
FIELDS = {
    "title": "title",
    "text": "text",
    "goal": "goal",
    "currency": "currency",
    "alt": "picture_alt",
    "starts_on": "starts_on",
    "ends_on": "ends_on",
    "pinned_to": "pinned_to",
    "external_id": "external_id",
    "times_shown": "times_shown",
    "last_shown_on": "last_shown_on",
}
KEY_OF = {name: key for key, name in FIELDS.items()}
TYPES = dict.fromkeys([*FIELDS, "url", "photo", "status"], str) | {"goal": int, "times_shown": int, "payments": list}
REQUIRED = {"title", "text", "url"}
PAYMENT_KEYS = {"url", "account", "rail", "label"}

Status = Fundraiser.Status
VERBS: dict[str, Callable[[Fundraiser], None]] = {
    Status.APPROVED: Fundraiser.approve,
    Status.PAUSED: Fundraiser.pause,
    Status.CLOSED: Fundraiser.close,
    Status.WITHDRAWN: Fundraiser.withdraw,
}


@dataclass(frozen=True)
class Fault:
    entry: int  # counted from 1
    key: str  # empty: the entry as a whole
    reason: str


class Refused(Exception):
    """The file has faults, and nothing of it was stored."""

    def __init__(self, faults: list[Fault]) -> None:
        super().__init__(f"{len(faults)} faults")
        self.faults = faults


@dataclass(frozen=True)
class Imported:
    created: int
    updated: int


def import_fundraisers(entries: list[Any], *, folder: Path, approve: bool) -> Imported:
    """Store every entry; the same `external_id` again updates what the entry names. Photos lie in `folder`.

    The ways to pay become those of the entry: one that somebody added elsewhere is gone after an update.
    With `approve` the drafts among them are approved, after all checks of an approval.

    Raises:
        Refused: with every fault of every entry; nothing is stored then.
    """
    faults: list[Fault] = []
    created = 0
    with transaction.atomic():
        for number, entry in enumerate(entries, start=1):
            collector = _Collector(number, faults)
            with collector.faults_of():
                created += _store(_checked(entry), folder, collector, approve=approve)
        if faults:
            raise Refused(faults)
    return Imported(created=created, updated=len(entries) - created)


class _Collector:
    """Gathers what is wrong with one entry, so that one reading of the file finds everything."""

    def __init__(self, entry: int, faults: list[Fault]) -> None:
        self._entry = entry
        self._faults = faults
        self.has_any = False

    @contextmanager
    def faults_of(self, key: str = "") -> Iterator[None]:
        """Turn a refusal inside into faults of `key`, else of the fields that it names."""
        try:
            yield
        except WrongStatus as refusal:
            self._add("status", str(refusal))
        except ValidationError as refusal:
            named = refusal.message_dict if hasattr(refusal, "error_dict") else {NON_FIELD_ERRORS: refusal.messages}
            for name, reasons in named.items():
                for reason in reasons:
                    self._add(key or ("" if name == NON_FIELD_ERRORS else KEY_OF.get(name, name)), reason)

    def _add(self, key: str, reason: str) -> None:
        self.has_any = True
        self._faults.append(Fault(self._entry, key, reason))


def _checked(entry: Any) -> dict[str, Any]:
    """The entry, once it has the keys and the types that it must have."""
    if not isinstance(entry, dict):
        raise ValidationError(_("This is no object with a title, a text and a url."))
    wrong = {key: _("This key is unknown.") for key in sorted(entry.keys() - TYPES.keys())}
    wrong |= {key: _("This is missing.") for key in sorted(REQUIRED) if not entry.get(key)}
    for key, expected in TYPES.items():
        value = entry.get(key)
        if value is not None and type(value) is not expected:  # True is an int, and no goal
            wrong[key] = _("Expects a %(type)s.") % {
                "type": {str: _("text"), int: _("whole number"), list: _("list")}[expected]
            }
    if wrong:
        raise ValidationError(wrong)
    return {key: markup.without_controls(value) if isinstance(value, str) else value for key, value in entry.items()}


def _store(entry: dict[str, Any], folder: Path, collector: _Collector, *, approve: bool) -> bool:
    """Save one entry, unless it has faults; whether it was a new one."""
    fundraiser = _existing(entry) or Fundraiser()
    is_new = fundraiser.pk is None
    status = entry.get("status") or fundraiser.status
    if approve and status == Status.DRAFT:
        status = Status.APPROVED
    if is_new and status != Status.APPROVED:
        fundraiser.status = status
    fields = _fill(fundraiser, entry, folder, collector)
    methods = _payment_methods(entry, collector)
    if not collector.has_any:
        fundraiser.save(update_fields=None if is_new else fields)
        fundraiser.payment_methods.all().delete()
        for method in methods:
            method.fundraiser = fundraiser
        PaymentMethod.objects.bulk_create(methods)
        _set_status(fundraiser, status)
    return is_new


def _existing(entry: dict[str, Any]) -> Fundraiser | None:
    external_id = entry.get("external_id")
    return Fundraiser.objects.select_for_update().filter(external_id=external_id).first() if external_id else None


def _fill(fundraiser: Fundraiser, entry: dict[str, Any], folder: Path, collector: _Collector) -> list[str]:
    """Set what the entry names, null meaning empty, and check the whole; returns the fields that were set."""
    empty = Fundraiser()
    given = [name for key, name in FIELDS.items() if key in entry]
    for name in given:
        value = entry[KEY_OF[name]]
        setattr(fundraiser, name, getattr(empty, name) if value is None else value)
    if entry.get("photo"):
        with collector.faults_of("photo"):
            fundraiser.picture = pictures.prepare(_photo(entry["photo"], folder))
            pictures.store(fundraiser.picture)
            given.append("picture")
    with collector.faults_of():
        fundraiser.clean_fields()  # first alone: it makes dates of written dates
        fundraiser.full_clean()
    return given


def _photo(name: str, folder: Path) -> bytes:
    file = (folder / name).resolve()
    if not file.is_relative_to(folder.resolve()):
        raise ValidationError(_("The photo lies outside the folder of the file."))
    try:
        return file.read_bytes()
    except OSError as error:
        raise ValidationError(f"{name}: {error.strerror}") from None


def _payment_methods(entry: dict[str, Any], collector: _Collector) -> list[PaymentMethod]:
    """The ways to pay in the order of the file; one that is named twice counts once."""
    methods: dict[tuple[str, str], PaymentMethod] = {}
    for key, pasted in [("url", entry["url"]), *(("payments", one) for one in entry.get("payments") or [])]:
        with collector.faults_of(key):
            method = _payment_method(pasted)
            method.position = len(methods)
            methods.setdefault((method.link, method.account), method)
    return list(methods.values())


def _payment_method(pasted: Any) -> PaymentMethod:
    written = {"url": pasted} if isinstance(pasted, str) else pasted
    if not isinstance(written, dict) or not all(isinstance(value, str) for value in written.values()):
        raise ValidationError(_("Expects a link, a card, an IBAN, or an object of texts."))
    if unknown := written.keys() - PAYMENT_KEYS:
        raise ValidationError(_("Unknown: %(keys)s."), params={"keys": ", ".join(sorted(unknown))})
    method = PaymentMethod(label=markup.without_controls(written.get("label", "")))
    method.take(written.get("url") or written.get("account", ""))
    if written.get("rail", method.rail) != method.rail:
        raise ValidationError(_("This is %(rail)s by its look."), params={"rail": method.get_rail_display()})
    method.full_clean(exclude=["fundraiser"])
    return method


def _set_status(fundraiser: Fundraiser, status: str) -> None:
    if status in VERBS and (status == Status.APPROVED or status != fundraiser.status):
        VERBS[status](fundraiser)
    elif status != fundraiser.status:
        raise ValidationError({"status": _("It is %(now)s by now.") % {"now": fundraiser.get_status_display()}})
