import io
import os

import pytest
from django.core.exceptions import ValidationError
from PIL import Image

from posts import pictures
from posts.models import Picture
from tests.factories import image_bytes, make_picture


def file_of(image: Image.Image, kind: str, **options: object) -> bytes:
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def seen(picture: Picture) -> Image.Image:
    return Image.open(io.BytesIO(picture.content))


def is_near(pixel: object, colour: tuple[int, int, int]) -> bool:
    assert isinstance(pixel, tuple)
    return all(abs(one - other) < 6 for one, other in zip(pixel, colour, strict=True))


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "GIF"])
def test_each_known_kind_becomes_a_jpeg(kind: str) -> None:
    picture = pictures.prepare(image_bytes(color="red", kind=kind))

    assert (picture.media_type, picture.width, picture.height) == ("image/jpeg", 40, 30)
    assert is_near(seen(picture).getpixel((20, 15)), (255, 0, 0))


def test_a_turned_photo_stands_upright_and_loses_its_metadata() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # turned by a quarter
    exif[0x010F] = "Camera of somebody"
    exif.get_ifd(0x8825)[1] = "N"  # GPS
    raw = image_bytes(kind="JPEG", exif=exif, comment=b"at home")

    picture = pictures.prepare(raw)

    assert (picture.width, picture.height) == (30, 40)
    assert not seen(picture).getexif()
    assert b"Camera" not in picture.content
    assert b"at home" not in picture.content


def test_what_is_transparent_becomes_white() -> None:
    glass = Image.new("RGBA", (20, 20), (255, 0, 0, 0))
    palette = Image.new("P", (20, 20))

    for raw in (file_of(glass, "PNG"), file_of(glass, "WEBP"), file_of(palette, "GIF", transparency=0)):
        assert is_near(seen(pictures.prepare(raw)).getpixel((10, 10)), (255, 255, 255))


def test_print_colours_and_deep_greys_keep_their_look() -> None:
    cmyk = file_of(Image.new("CMYK", (20, 20), (0, 255, 255, 0)), "JPEG")
    grey = file_of(Image.new("I;16", (20, 20), 0x8000), "PNG")

    assert is_near(seen(pictures.prepare(cmyk)).getpixel((10, 10)), (254, 0, 0))
    assert is_near(seen(pictures.prepare(grey)).getpixel((10, 10)), (128, 128, 128))


def test_of_an_animation_the_first_frame_is_taken() -> None:
    frames = [Image.new("RGB", (20, 20), colour) for colour in ("blue", "red")]

    for kind in ("GIF", "WEBP"):
        raw = file_of(frames[0], kind, save_all=True, append_images=frames[1:], duration=100)
        assert is_near(seen(pictures.prepare(raw)).getpixel((10, 10)), (0, 0, 255))


def test_a_large_photo_shrinks_and_keeps_its_shape() -> None:
    picture = pictures.prepare(image_bytes(size=(4000, 3000)))

    assert (picture.width, picture.height) == (2560, 1920)


def test_the_most_detailed_picture_still_fits() -> None:
    noise = Image.frombytes("RGB", (2560, 2560), os.urandom(2560 * 2560 * 3))

    picture = pictures.prepare(file_of(noise, "PNG", compress_level=0))

    assert len(picture.content) <= pictures.MAX_BYTES


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"", "no picture"),
        (b"%PDF-1.7 not a photo", "no picture"),
        (image_bytes(kind="BMP"), "no picture"),
        (image_bytes(size=(400, 400), kind="JPEG")[:600], "no picture"),
        (image_bytes(size=(2100, 100)), "too narrow"),
        (file_of(Image.new("1", (8000, 8000)), "PNG"), "too many pixels"),
        (file_of(Image.new("1", (20000, 20000)), "PNG"), "too many pixels"),
        (bytes(pictures.MAX_UPLOAD_BYTES + 1), "30 MB"),
    ],
    ids=["empty", "other file", "other kind", "cut off", "narrow", "large", "bomb", "heavy"],
)
def test_what_cannot_be_sent_is_refused_with_the_reason(raw: bytes, reason: str) -> None:
    with pytest.raises(ValidationError) as refusal:
        pictures.prepare(raw)

    assert reason in refusal.value.messages[0]


@pytest.mark.django_db
def test_the_same_picture_is_stored_once() -> None:
    first, second = make_picture(), make_picture()

    assert first.digest == second.digest
    assert Picture.objects.count() == 1
    assert bytes(Picture.objects.get().content) == first.content
