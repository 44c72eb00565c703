import socket

import pytest

from donate1024.stack import ports


def test_a_busy_port_is_named_with_the_setting_that_changes_it() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        number = str(taken.getsockname()[1])

        with pytest.raises(ports.PortRefused, match=f"port {number} is taken: set WEB_PORT"):
            ports.chosen({"WEB_PORT": number}, "WEB_PORT")


@pytest.mark.parametrize("text", ["", "http", "0", "65536", "-1"])
def test_what_is_no_port_is_refused_by_name(text: str) -> None:
    with pytest.raises(ports.PortRefused, match="FLOWER_PORT: expects a port"):
        ports.chosen({"FLOWER_PORT": text}, "FLOWER_PORT")


def test_a_free_port_is_taken_as_it_is() -> None:
    number = ports.free()

    assert ports.chosen({"SANDBOX_PORT": str(number)}, "SANDBOX_PORT") == number


def test_two_services_on_one_port_are_both_named() -> None:
    port = str(ports.free())

    with pytest.raises(ports.PortRefused, match=f"WEB_PORT and FLOWER_PORT are both {port}"):
        ports.chosen_all({"WEB_PORT": port, "FLOWER_PORT": port}, ["WEB_PORT", "FLOWER_PORT"])
