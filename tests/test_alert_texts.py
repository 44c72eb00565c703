"""Every ERROR of ours is an alert on somebody's phone: what happened, what it means for people, what to do."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from django.conf import settings

FOLDERS = ("posts", "subscribers", "delivery", "donate1024")
ALERTS = {"error", "exception", "critical"}
# Where the template is a value that was handed over, it stands in this file instead.
TEXTS_OF = {"donate1024/watch/telling.py": "donate1024/watch/rules.py"}
PARTS = re.compile(r"[^.]+.*\. (?P<meaning>.+[.)] )What to do: .+", re.DOTALL)


class Alert(NamedTuple):
    place: str
    templates: list[str]
    arguments: list[ast.expr]


def sources() -> Iterator[tuple[str, ast.Module]]:
    for folder in FOLDERS:
        for path in sorted((settings.BASE_DIR / folder).rglob("*.py")):
            name = path.relative_to(settings.BASE_DIR).as_posix()
            if not name.startswith("donate1024/sandbox/"):
                yield name, ast.parse(path.read_text())


def calls(tree: ast.Module) -> Iterator[tuple[str, ast.Call]]:
    """The calls of methods of loggers."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="logger"), attr=method)):
                yield method, node


def alerts() -> Iterator[Alert]:
    for name, tree in sources():
        for method, call in calls(tree):
            if method in ALERTS:
                yield Alert(f"{name}:{call.lineno}", templates(name, tree, call.args[0]), call.args[1:])


def templates(file: str, tree: ast.Module, node: ast.expr) -> list[str]:
    """What is marked for translation behind the expression: nothing where it is a text by itself."""
    match node:
        case ast.Call():
            return marked(node)
        case ast.Name() | ast.Subscript(value=ast.Name()):
            name = ast.unparse(node).partition("[")[0]
            return marked(next(each.value for each in tree.body if isinstance(each, ast.Assign) and is_to(each, name)))
        case ast.Attribute() if file in TEXTS_OF:
            rules = ast.parse((settings.BASE_DIR / TEXTS_OF[file]).read_text()).body
            # The texts of alerts have names; what stands inside a rule tells an end.
            named = [each.value for each in rules if isinstance(each, ast.Assign) and isinstance(each.value, ast.Call)]
            return [text for value in named for text in marked(value)]
        case _:
            return []


def marked(tree: ast.AST) -> list[str]:
    found = []
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id="gettext_noop"), args=[ast.Constant(value=str(text))]):
                found.append(text)
    return found


def is_to(assignment: ast.Assign, name: str) -> bool:
    return any(isinstance(target, ast.Name) and target.id == name for target in assignment.targets)


@pytest.mark.parametrize("alert", [*alerts()], ids=lambda alert: alert.place)
def test_an_alert_is_translated_and_says_what_happened_what_it_means_and_what_to_do(alert: Alert) -> None:
    assert alert.templates, "mark the template with gettext_noop"
    for template in alert.templates:
        assert PARTS.fullmatch(template), template


@pytest.mark.parametrize("alert", [*alerts()], ids=lambda alert: alert.place)
def test_an_alert_names_nobody(alert: Alert) -> None:
    names = {node.id for each in alert.arguments for node in ast.walk(each) if isinstance(node, ast.Name)}
    attributes = {node.attr for each in alert.arguments for node in ast.walk(each) if isinstance(node, ast.Attribute)}

    assert not {name for name in names | attributes if re.search(r"chat|person|payload|first_name|username", name)}


def test_no_level_is_chosen_where_nobody_can_see_what_becomes_an_alert() -> None:
    assert [
        f"{name}:{call.lineno}" for name, tree in sources() for method, call in calls(tree) if method == "log"
    ] == []


def test_every_alert_is_found() -> None:
    """A logger by another name would pass unseen."""
    found = {alert.place for alert in alerts()}
    words = re.compile(
        r"(?<!messages)\.(?:error|exception|critical)\((?!\))"
    )  # a page's messages, a future's exception
    written = {
        f"{name}:{number}"
        for name, _ in sources()
        for number, line in enumerate(Path(settings.BASE_DIR / name).read_text().splitlines(), start=1)
        if words.search(line)
    }

    assert written == found
