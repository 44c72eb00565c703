"""What people read in Ukrainian: all of it is translated, in the words that we chose."""

import re
from pathlib import Path

import django
import polib
import pytest
from django.conf import settings
from django.template.loader import render_to_string
from django.utils import translation
from django.utils.translation import ngettext

from subscribers.bot.events import Person

CATALOGUE = settings.LOCALE_PATHS[0] / "uk" / "LC_MESSAGES" / "django.po"
TEMPLATES = settings.BASE_DIR / "templates"
REPLIES = sorted(path.name for path in (TEMPLATES / "subscribers").glob("*.html"))
# Subscribers and curators never read them, in any of their forms.
FORBIDDEN = r"креатив|квот|ризик|висновк|висновок|заявк|відхилен|деактивован|користувач|воркер|worker|queue|breaker"
COMMANDS = r"/start|/stop|/help"


@pytest.fixture(scope="module")
def catalogue() -> polib.POFile:
    return polib.pofile(str(CATALOGUE))


def test_every_text_is_translated_and_none_is_in_doubt(catalogue: polib.POFile) -> None:
    assert catalogue.untranslated_entries() == []
    assert catalogue.fuzzy_entries() == []
    assert catalogue.obsolete_entries() == []
    assert len(catalogue) > 200


def test_the_compiled_catalogue_is_this_one(catalogue: polib.POFile) -> None:
    compiled = polib.mofile(str(CATALOGUE.with_suffix(".mo")))

    assert {entry.msgid: (entry.msgstr, entry.msgstr_plural) for entry in compiled} == {
        entry.msgid: (entry.msgstr, entry.msgstr_plural) for entry in catalogue
    }


def test_placeholders_survive_their_translation(catalogue: polib.POFile) -> None:
    placeholders = re.compile(r"%(?:\(\w+\))?[sd]")

    for entry in catalogue:
        for translated in [entry.msgstr] if entry.msgstr else entry.msgstr_plural.values():
            assert sorted(placeholders.findall(translated)) == sorted(placeholders.findall(entry.msgid)), entry.msgid


def test_no_word_of_djangos_own_is_changed(catalogue: polib.POFile) -> None:
    ours = {entry.msgid: entry.msgstr for entry in catalogue}
    folders = ["conf", "contrib/admin", "contrib/auth"]  # a project's catalogue wins over them everywhere
    files = [Path(django.__file__).parent / folder / "locale/uk/LC_MESSAGES/django.mo" for folder in folders]

    theirs = {entry.msgid: entry.msgstr for file in files for entry in polib.mofile(str(file))}

    assert len(theirs) > 300
    assert {msgid: ours[msgid] for msgid in ours.keys() & theirs.keys() if ours[msgid] != theirs[msgid]} == {}


@pytest.mark.parametrize(
    ("count", "said"),
    [
        (1, "Схвалено 1 збір."),
        (3, "Схвалено 3 збори."),
        (11, "Схвалено 11 зборів."),
        (25, "Схвалено 25 зборів."),
        (42, "Схвалено 42 збори."),
        (101, "Схвалено 101 збір."),
    ],
)
def test_counted_things_agree_with_their_number(count: int, said: str) -> None:
    with translation.override("uk"):
        assert ngettext("%d fundraiser approved.", "%d fundraisers approved.", count) % count == said


def test_nobody_is_shouted_at_or_reads_the_words_we_do_not_use(catalogue: polib.POFile) -> None:
    for entry in catalogue:
        for translated in [entry.msgstr, *entry.msgstr_plural.values()]:
            assert not re.search(FORBIDDEN, translated, re.IGNORECASE), translated
            assert "!" not in translated


@pytest.mark.parametrize("template", REPLIES)
@pytest.mark.parametrize("name", ["", "Оля"])
def test_a_reply_is_ukrainian_throughout(template: str, name: str) -> None:
    said = reply(template, language="uk", name=name)

    assert re.search("[а-щьюяєіїґ]", said)
    assert not re.search("[A-Za-z]", re.sub(COMMANDS, "", said))


@pytest.mark.parametrize("template", REPLIES)
def test_a_reply_is_english_for_whoever_reads_english(template: str) -> None:
    said = reply(template, language="en", name="Olia")

    assert re.search("[A-Za-z]", said)
    assert not re.search("[А-Яа-яЄєІіЇїҐґ]", said)
    assert "!" not in said


def reply(template: str, *, language: str, name: str) -> str:
    with translation.override(language):
        return render_to_string(f"subscribers/{template}", {"person": Person(1, first_name=name)})
