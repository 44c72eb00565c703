"""Pictures made ready to be sent: decoded, upright, without metadata, small enough for Telegram."""

import hashlib
import io

from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _
from PIL import Image, ImageOps

from posts.models import Picture

# https://core.telegram.org/bots/api#sendphoto: width + height <= 10 000, ratio <= 20, 10 MB; phones show 2560 at most.
LONGEST_SIDE = 2560
MAX_RATIO = 20
MAX_BYTES = 5_000_000
MAX_UPLOAD_BYTES = 30_000_000
MAX_PIXELS = 60_000_000  # about 180 MB while it is decoded: a small file can hold far more
FORMATS = ("JPEG", "PNG", "WEBP", "GIF")
QUALITIES = (88, 75, 60)


def prepare(raw: bytes) -> Picture:
    """The picture in `raw` as a JPEG for everybody, not saved. The same bytes give the same digest.

    Of an animation the first frame is taken; what is transparent becomes white.

    Raises:
        ValidationError: with the reason, if it is no picture or none that can be sent.
    """
    prepared = _flattened(_decoded(raw))
    prepared.thumbnail((LONGEST_SIDE, LONGEST_SIDE), Image.Resampling.LANCZOS)
    content = _encoded(prepared)
    return Picture(
        digest=hashlib.sha256(content).hexdigest(),
        content=content,
        media_type="image/jpeg",
        width=prepared.width,
        height=prepared.height,
    )


def store(picture: Picture) -> None:
    """Save a prepared picture. One that is there already stays as it is."""
    Picture.objects.bulk_create([picture], ignore_conflicts=True)


def _decoded(raw: bytes) -> Image.Image:
    """The picture in memory, turned as its camera was held."""
    if len(raw) > MAX_UPLOAD_BYTES:
        raise ValidationError(
            _("The file has %(size)d MB; at most %(limit)d are taken."),
            params={"size": len(raw) // 1_000_000, "limit": MAX_UPLOAD_BYTES // 1_000_000},
        )
    try:
        with Image.open(io.BytesIO(raw), formats=FORMATS) as file:
            _check_pixels(*file.size)
            image = ImageOps.exif_transpose(file)
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise ValidationError(_("The picture has too many pixels. Make it smaller.")) from None
    except (OSError, SyntaxError, ValueError, EOFError):  # what decoders raise on a broken file
        raise ValidationError(
            _("This file is no picture, or a broken one. Known are %(formats)s."),
            params={"formats": ", ".join(FORMATS)},
        ) from None
    if max(image.size) > MAX_RATIO * min(image.size):
        raise ValidationError(_("The picture is too narrow: Telegram takes none longer than 20 times its width."))
    return image


def _check_pixels(width: int, height: int) -> None:
    """Refuse before anything is decoded: Pillow itself only warns at this size."""
    if width * height > MAX_PIXELS:
        raise Image.DecompressionBombError


def _flattened(image: Image.Image) -> Image.Image:
    """The same pixels in RGB on white, as a new image: nothing of the file's metadata comes along."""
    if image.mode.startswith("I;16"):  # converting would clip 16 bits to 8
        image = image.point(lambda value: value / 256).convert("L")
    canvas = Image.new("RGB", image.size, "white")
    if image.has_transparency_data:
        image = image.convert("RGBA")
        canvas.paste(image, mask=image)
    else:
        canvas.paste(image.convert("RGB"))
    return canvas


def _encoded(image: Image.Image) -> bytes:
    """The image as a JPEG: the best quality whose file is small enough, which the last one always is."""
    for quality in QUALITIES:
        out = io.BytesIO()
        image.save(out, "JPEG", quality=quality, optimize=True, progressive=True)
        if out.tell() <= MAX_BYTES:
            break
    return out.getvalue()
