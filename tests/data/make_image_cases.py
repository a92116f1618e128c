"""Writes image_cases.inc: pictures that Pillow wrote, and the pixels that it reads from them.

    python3 tests/data/make_image_cases.py    with Pillow 13.0.0 and NumPy 2.4.6
"""

import io
import pathlib

import numpy as np
import PIL
from PIL import Image

rng = np.random.default_rng(20261123)
H, W = 5, 7


def encoded(image, kind, **options):
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def smooth(channels):
    """16 x 16 pixels that JPEG keeps nearly as they are."""
    y, x = np.mgrid[0:16, 0:16]
    planes = [8 * x + 4 * y, 255 - 10 * x, 5 * y + 3 * x][:channels]
    return np.stack(planes, -1).astype(np.uint8)


def cases():
    grey = rng.integers(0, 256, (H, W), dtype=np.uint8)
    rgb = rng.integers(0, 256, (H, W, 3), dtype=np.uint8)
    rgba = rng.integers(0, 256, (H, W, 4), dtype=np.uint8)
    yield "png_grey", encoded(Image.fromarray(grey), "PNG"), None
    yield "png_rgb", encoded(Image.fromarray(rgb), "PNG"), None
    yield "png_rgba", encoded(Image.fromarray(rgba), "PNG"), None
    yield "png_grey_alpha", encoded(Image.fromarray(rgba).convert("LA"), "PNG"), None
    yield "png_palette", encoded(Image.fromarray(rgb).quantize(8), "PNG"), "RGB"
    yield "png_one_bit", encoded(Image.fromarray(grey).convert("1"), "PNG"), "L"
    yield "jpeg_grey", encoded(Image.fromarray(smooth(1)[..., 0]), "JPEG", quality=95), None
    yield "jpeg_rgb", encoded(Image.fromarray(smooth(3)), "JPEG", quality=95, subsampling=0), None
    yield ("jpeg_progressive",
           encoded(Image.fromarray(smooth(3)), "JPEG", quality=95, progressive=True), None)


def numbers(values):
    lines, line = [], ""
    for v in values:
        text = f"{v},"
        if len(line) + len(text) > 98:
            lines.append(line)
            line = ""
        line += text
    return "\n".join([*lines, line])


def main():
    out = [f"// Written by make_image_cases.py with Pillow {PIL.__version__}.", "// clang-format off"]
    for name, data, mode in cases():
        image = Image.open(io.BytesIO(data))
        if mode:
            image = image.convert(mode)
        pixels = np.asarray(image)
        pixels = pixels.reshape(*pixels.shape[:2], -1)
        luma = np.asarray(image.convert("L")) if image.mode in ("L", "RGB") else np.zeros((0,))
        out.append(f'{{"{name}", {{{numbers(data)}}},')
        out.append(f"{{{', '.join(map(str, pixels.shape))}}}, {{{numbers(pixels.ravel())}}},")
        out.append(f"{{{numbers(luma.ravel())}}}}},")
    path = pathlib.Path(__file__).parent / "image_cases.inc"
    path.write_text("\n".join(out) + "\n")


main()
