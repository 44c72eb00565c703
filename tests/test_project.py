"""What holds of the project as a whole."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import pytest
from celery import current_app
from django.conf import settings
from django.contrib import admin
from django.core.management import call_command, get_commands, load_command_class
from django.test import Client
from django.urls import reverse

from delivery import reasons
from donate1024.stack import environment

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"


def test_every_setting_stands_in_env_example_and_no_other() -> None:
    read = set(re.findall(r'env\.\w+\(\s*"([A-Z0-9_]+)"', (ROOT / "donate1024/settings.py").read_text()))
    known_to_the_supervisor = {"STATE_DIR", "FLOWER_BASIC_AUTH", *environment.PORTS}

    named = set(re.findall(r"^#?([A-Z0-9_]{4,})=", (ROOT / ".env.example").read_text(), re.MULTILINE))

    assert named == (read | known_to_the_supervisor) - {"DONATE1024_SANDBOX"}
    assert named <= environment.NAMES


@pytest.mark.django_db
def test_migrations_match_the_models() -> None:
    call_command("makemigrations", check=True, dry_run=True, verbosity=0)


def test_every_scheduled_task_exists_and_expires_before_the_next() -> None:
    current_app.loader.import_default_modules()

    for entry in cast("dict[str, Any]", settings.CELERY_BEAT_SCHEDULE).values():
        assert entry["task"] in current_app.tasks
        assert entry["options"]["expire_seconds"] < entry["schedule"] <= 60
        assert isinstance(entry["schedule"], float)  # an interval: a crontab in beat skips days and fires twice


@pytest.mark.parametrize("model", [model._meta.label_lower for model in admin.site._registry])
def test_every_admin_list_opens(admin_client: Client, model: str) -> None:
    answer = admin_client.get(reverse(f"admin:{model.replace('.', '_')}_changelist"), follow=True)

    assert answer.status_code == 200


def test_the_readmes_commands_exist() -> None:
    text = README.read_text()
    targets = " ".join(re.findall(r"^([a-z -]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)).split()

    assert set(re.findall(r"(?:^|`)make ([a-z]+)", text, re.MULTILINE)) <= {*targets}
    for name, act in re.findall(r"manage\.py (\w+)(?: ([a-z]+))?", text):
        command = load_command_class(get_commands()[name], name)
        if act:
            assert act in command.create_parser("manage.py", name).format_help()


def test_the_readmes_links_lead_somewhere() -> None:
    for page in [README, *ROOT.glob("docs/**/*.md"), ROOT / "CONTRIBUTING.md"]:
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_every_reason_for_which_a_morning_stops_stands_in_the_runbook() -> None:
    runbook = (ROOT / "docs/operations.md").read_text()
    by_itself = {
        reasons.QUIET_HOUR,
        reasons.LATE_START,
        reasons.TEXT_REFUSED,
        reasons.PICTURE_REFUSED,
        reasons.TOKEN_REFUSED,
        reasons.CHATS_REFUSED,
        reasons.FIRST_CHAT_REFUSED,
        reasons.NOTHING_TO_SHOW,
        reasons.MISSED,
        reasons.DAY_IS_OVER,
        reasons.OVERTAKEN,
    }

    assert [reason for reason in by_itself if reason not in runbook] == []


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("TELEGRAM_BOT_TOKEN", "not-a-token", "BotFather"),
        ("TELEGRAM_MESSAGES_PER_SECOND", "many", "number"),
        ("TELEGRAM_ADMIN_CHATS", "@me", "TELEGRAM_ADMIN_CHATS: expects numbers of chats"),
        ("TIME_ZONE", "Kyiv", "Europe/Kyiv"),
        ("DATABASE_URL", "nowhere", "DATABASE_URL"),
        ("REDIS_URL", "http://127.0.0.1", "redis://"),
        ("REDIS_URL", "redis://127.0.0.1/abc", "redis://"),
        ("DATABASE_URL", "sqlite:///here.db", "postgres://"),
        ("TELEGRAM_API_URL", "ftp://127.0.0.1", "TELEGRAM_API_URL"),
        ("HEARTBEAT_URL", "hc-ping.com/uuid", "https://hc-ping.com"),
        ("ALERT_EMAILS", "you@example.org,nobody", "email address"),
        ("ALERT_EMAILS", "you@example.org", "EMAIL_URL"),  # and no mail server
        ("EMAIL_URL", "mail.example.org", "smtp://"),
        ("EMAIL_URL", "smtp://mail.example.org:port", "EMAIL_URL"),
        ("BLUESKY_HANDLE", "@name.bsky.social", "without @"),
        ("BLUESKY_URL", "bsky.social", "BLUESKY_URL"),
        ("GEMINI_API_URL", "ftp://127.0.0.1", "GEMINI_API_URL"),
        ("BLUESKY_APP_PASSWORD", "abcd-efgh-ijkl-mnop", "BLUESKY_HANDLE"),
    ],
)
def test_a_wrong_setting_stops_the_start_with_its_name(name: str, value: str, says: str) -> None:
    env = {"PATH": "/usr/bin:/bin", "DONATE1024_ENV_FILE": "", name: value}

    started = subprocess.run(
        [sys.executable, "manage.py", "check"], cwd=ROOT, env=env, capture_output=True, text=True, check=False
    )

    assert started.returncode == 1
    assert name in started.stderr
    assert says in started.stderr
    assert "Traceback" not in started.stderr


def test_without_a_token_and_outside_the_sandbox_nothing_runs() -> None:
    env = {"PATH": "/usr/bin:/bin", "DONATE1024_ENV_FILE": "", "STATE_DIR": "/nonexistent"}

    started = subprocess.run(
        [sys.executable, "manage.py", "migrate"], cwd=ROOT, env=env, capture_output=True, text=True, check=False
    )

    assert started.returncode == 1
    assert "TELEGRAM_BOT_TOKEN" in started.stderr


def test_the_sandbox_refuses_a_token_and_every_other_machine() -> None:
    env = {"PATH": "/usr/bin:/bin", "DONATE1024_ENV_FILE": "", "DONATE1024_SANDBOX": "1", "SECRET_KEY": "x" * 50}
    with_token = env | {"TELEGRAM_BOT_TOKEN": "123456789:AAF" + "x" * 32, "TELEGRAM_API_URL": "http://127.0.0.1:9"}
    with_telegram = env | {"TELEGRAM_API_URL": "https://api.telegram.org"}

    starts = [
        subprocess.run([sys.executable, "manage.py", "check"], cwd=ROOT, env=each, capture_output=True, check=False)
        for each in (with_token, with_telegram)
    ]

    assert [start.returncode for start in starts] == [1, 1]
    assert b"TELEGRAM_BOT_TOKEN" in starts[0].stderr
    assert b"TELEGRAM_API_URL" in starts[1].stderr


def test_a_database_whose_host_vanishes_is_noticed_within_half_a_minute() -> None:
    options = settings.DATABASES["default"]["OPTIONS"]

    silence = options["keepalives_idle"] + options["keepalives_interval"] * options["keepalives_count"]
    assert silence <= 30
    assert options["tcp_user_timeout"] <= 30_000


def test_a_database_that_is_down_is_named_without_a_trace() -> None:
    env = {
        "PATH": "/usr/bin:/bin",
        "DONATE1024_ENV_FILE": "",
        "DONATE1024_SANDBOX": "1",
        "SECRET_KEY": "x" * 50,
        "TELEGRAM_API_URL": "http://127.0.0.1:9",
        "DATABASE_URL": "postgres://127.0.0.1:9/nobody",
    }

    started = subprocess.run(
        [sys.executable, "manage.py", "broadcast", "status"],
        cwd=ROOT,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )

    assert started.returncode == 1
    assert "DATABASE_URL" in started.stderr
    assert "Traceback" not in started.stderr
