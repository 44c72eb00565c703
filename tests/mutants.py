"""`make mutants`: mutation testing, with one PostgreSQL and one Valkey for all the mutants."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from donate1024.stack import environment
from donate1024.stack.embedded import Postgres, Valkey


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="donate1024-mutants-") as directory:
        state = Path(directory)
        with Postgres(state, durable=False), Valkey(state, durable=False):
            servers = {
                "TEST_DATABASE_URL": environment.database_url(state),
                "TEST_REDIS_URL": environment.redis_url(state),
            }
            mutmut = Path(sys.executable).with_name("mutmut")
            return subprocess.run([mutmut, *sys.argv[1:]], env=os.environ | servers, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
