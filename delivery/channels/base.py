"""What every channel tells of a message that it accepted."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Receipt:
    message_id: str
    file_id: str = ""  # under which the service keeps the picture, where it does
