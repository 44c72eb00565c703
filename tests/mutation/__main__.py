"""`make mutants`: mutation testing by mutmut, with one PostgreSQL and one Valkey for all the mutants."""

import os
import tempfile
from pathlib import Path

import libcst as cst
import libcst.matchers as m
from mutmut.__main__ import cli
from mutmut.mutation import file_mutation

from donate1024.stack import environment
from donate1024.stack.embedded import Postgres, Valkey

ATOMIC = m.Decorator(m.Attribute(m.Name("transaction"), m.Name("atomic")))


class Visitor(file_mutation.MutationVisitor):
    """Goes into `@transaction.atomic` functions too: mutmut leaves out what is decorated, and so most of the locks."""

    def on_visit(self, node: cst.CSTNode) -> bool:
        return m.matches(node, m.FunctionDef(decorators=[ATOMIC])) or super().on_visit(node)


def main() -> None:
    file_mutation.MutationVisitor = Visitor  # type: ignore[misc]
    with tempfile.TemporaryDirectory(prefix="donate1024-mutants-") as directory:
        state = Path(directory)
        with Postgres(state, durable=False), Valkey(state, durable=False):
            os.environ["TEST_DATABASE_URL"] = environment.database_url(state)
            os.environ["TEST_REDIS_URL"] = environment.redis_url(state)
            cli()


if __name__ == "__main__":
    main()
