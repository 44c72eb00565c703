import pytest

from donate1024.stack.outside import Unreachable, check_database, check_redis


@pytest.mark.parametrize(
    "address", ["postgres://user:do%not-tell@127.0.0.1:9/name", "postgres://user:do-not-tell@127.0.0.1:9/name"]
)
def test_a_database_that_is_not_there_is_told_without_its_password(address: str) -> None:
    with pytest.raises(Unreachable, match=r"^DATABASE_URL: ") as told:
        check_database(address)

    assert "tell" not in str(told.value)


def test_a_redis_that_is_not_there_is_told_without_its_password() -> None:
    with pytest.raises(Unreachable, match=r"^REDIS_URL: ") as told:
        check_redis("redis://:do-not-tell@127.0.0.1:9/0")

    assert "tell" not in str(told.value)
