"""Images of Pillow, resized and recoloured by our kernels: Pillow's bytes, whatever the mode, the size and the filter."""
import tracemalloc

import numpy as np
import pytest

import wherry_tensor as wt
from wherry_vision.transforms import functional as F
from wherry_vision.transforms import pictures, pixels

pil = pytest.importorskip("PIL.Image")
shared = pytest.mark.skipif(not pixels._shares(), reason="this Pillow does not share the memory of its images")

SMOOTH = ("bilinear", "bicubic", "box", "lanczos", "hamming")


def noise(rng, mode, width, height):
    if mode in ("1", "P", "I", "F"):
        return noise(rng, "L", width, height).convert(mode)
    return pil.frombytes(mode, (width, height), rng.bytes(width * height * len(pil.new(mode, (1, 1)).getbands())))


def is_same(ours, theirs):
    return (ours.mode, ours.size, ours.info) == (theirs.mode, theirs.size, theirs.info) and ours.tobytes() == theirs.tobytes()


@pytest.mark.parametrize("mode", ["L", "RGB", "RGBA", "LA", "CMYK", "RGBX", "HSV", "YCbCr", "LAB", "La", "RGBa", "P", "1", "I", "F"])
@pytest.mark.parametrize("method", pictures.METHODS)
def test_resizing_gives_pillows_bytes(mode, method):
    rng = np.random.default_rng(len(mode) + len(method))
    for i in range(20):
        width, height, across, down = (int(n) for n in rng.integers(1, 300 if i == 0 else 60, 4))
        image = noise(rng, mode, width, height)
        for new in (down, across), (height, across), (down, width), (height, width), (1, 1):
            assert is_same(F.resize(image, new, method), image.resize(new[::-1], pil.Resampling[method.upper()])), (image, new)
    black_and_white = noise(rng, mode, 90, 70)
    if mode not in ("1", "P", "I", "F"):  # beyond which cubics go
        black_and_white = pil.frombytes(mode, (90, 70), bytes(255 * (x > 127) for x in black_and_white.tobytes()))
    assert is_same(F.resize(black_and_white, (101, 43), method), black_and_white.resize((43, 101), pil.Resampling[method.upper()]))


@pytest.mark.parametrize("mode", ["RGB", "L", "RGBA", "CMYK"])
def test_colours_are_pillows(mode):
    rng = np.random.default_rng(0)
    for _ in range(10):
        image = noise(rng, mode, *(int(n) for n in rng.integers(1, 60, 2)))
        image.info["dpi"] = (72, 72)
        for kind in "brightness", "contrast", "saturation":
            adjust = F.adjust_saturation if kind == "saturation" else getattr(F, f"adjust_{kind}")
            for factor in 0, 0.31, 1, 1.9, 1e30:
                assert is_same(adjust(image, factor), pictures._pillows_color(image, factor, kind)), (image, kind, factor)
        if mode == "RGB":
            for turn in -0.5, -0.1, 0.0, 0.02, 0.5:
                assert is_same(F.adjust_hue(image, turn), pictures._pillows_color(image, float(int(turn * 255) % 256), "hue"))


@shared
def test_all_colours_are_pillows():
    levels = np.array([*range(0, 256, 15), 1, 2, 3, 127, 128, 253, 254], np.uint8)
    image = pil.fromarray(np.stack(np.meshgrid(levels, levels, levels), -1).reshape(25 * 25, 25, 3))
    for step in range(0, 256, 17):
        assert is_same(pixels.recolored(image, float(step), "hue"), pictures._pillows_color(image, float(step), "hue"))


@shared
def test_our_kernels_are_what_runs(monkeypatch):
    assert pictures._has_our_bytes()
    monkeypatch.setattr(pictures, "_pillows_resize", None)
    monkeypatch.setattr(pictures, "_pillows_color", None)
    image = noise(np.random.default_rng(0), "RGB", 30, 20)
    assert F.resize(image, 10).size == (15, 10) and F.resize(image.convert("RGBA"), 10).mode == "RGBA"
    for adjust in F.adjust_brightness, F.adjust_contrast, F.adjust_saturation, F.adjust_hue:
        assert adjust(image, 0.3).size == image.size


def test_other_bytes_are_left_to_pillow(monkeypatch):
    image = noise(np.random.default_rng(0), "RGB", 30, 20)
    monkeypatch.setattr(pictures, "_has_our_bytes", lambda: False)
    monkeypatch.setattr(pixels, "resized", None)
    monkeypatch.setattr(pixels, "recolored", None)
    assert is_same(F.resize(image, 10), image.resize((15, 10), pil.Resampling.BILINEAR))
    assert is_same(F.adjust_contrast(image, 0.3), pictures._pillows_color(image, 0.3, "contrast"))
    monkeypatch.setattr(pixels, "_shares", lambda: False)
    assert F.to_tensor(image).tolist() == F.to_tensor(np.asarray(image)).tolist()


def test_memory_that_is_not_one_block(tmp_path):
    """Larger images than a block of Pillow's, and mapped ones whose rows lie apart or backwards."""
    rng = np.random.default_rng(0)
    data = rng.bytes(40 * 128)
    odd = [pil.frombuffer(mode, (30, 40), data, "raw", raw, step, turn) for mode, raw, step, turn in (
        ("L", "L", 32, 1), ("L", "L", 0, -1), ("RGBX", "RGBX", 128, 1), ("RGB", "RGBX", 0, 1), ("RGB", "RGBX", 0, -1)
    )]  # fmt: skip
    for mode, name in ("L", "a.bmp"), ("RGB", "b.bmp"), ("L", "c.tiff"), ("CMYK", "d.tiff"):
        noise(rng, mode, 31, 20).save(tmp_path / name)
        odd.append(pil.open(tmp_path / name))
    for image in [*odd, noise(rng, "L", 5000, 4000)]:
        for height, width in (9, 11), (9, image.width + 3), (image.height, 7), (30, image.width):
            assert is_same(F.resize(image, (height, width)), image.resize((width, height), pil.Resampling.BILINEAR))
        if image.mode == "RGB":
            assert F.to_tensor(image).tolist() == F.to_tensor(np.asarray(image)).tolist()
            assert is_same(F.adjust_hue(image, 0.3), pictures._pillows_color(image, 76.0, "hue"))


@shared
def test_the_memory_is_the_images_and_lives_as_long():
    image = noise(np.random.default_rng(0), "RGB", 30, 20)
    before = np.asarray(image).copy()
    memory = pixels.memory_of(image)
    assert memory.shape == [20, 30, 4] and memory.stop_gradient
    image.putpixel((3, 5), (1, 2, 3))
    assert memory.numpy()[5, 3, :3].tolist() == [1, 2, 3]
    del image
    noise(np.random.default_rng(1), "RGB", 30, 20)
    before[5, 3] = 1, 2, 3
    assert (memory.numpy()[..., :3] == before).all()


@shared
def test_changed_images_are_images_of_their_own():
    image = noise(np.random.default_rng(0), "RGB", 30, 20)
    kept = image.tobytes()
    for made in F.resize(image, (20, 30)), F.resize(image, 7), F.adjust_brightness(image, 1), F.adjust_hue(image, 0.0):
        made.paste((9, 9, 9), (0, 0, 5, 5))
        made.putpixel((6, 6), (7, 7, 7))
        assert made.getpixel((6, 6)) == (7, 7, 7) and image.tobytes() == kept
        assert made.copy().tobytes() == made.tobytes() and made.format is None


@shared
def test_resizing_again_and_again_keeps_no_memory():
    image = noise(np.random.default_rng(0), "RGB", 300, 200)
    F.adjust_hue(F.resize(image, 100), 0.1)
    tracemalloc.start()
    try:
        for _ in range(50):
            F.to_tensor(F.adjust_hue(F.resize(image, 100), 0.1))
        held, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 100_000 and most < 1_000_000


def test_wrong_images_are_refused():
    image = noise(np.random.default_rng(0), "RGB", 30, 20)
    image.close()
    for use in (lambda: F.resize(image, 10), lambda: F.adjust_contrast(image, 2.0), lambda: F.adjust_hue(image, 0.1)):
        with pytest.raises(ValueError, match="closed"):
            use()
    with pytest.raises(ValueError, match="the image has no pixels"):
        F.resize(pil.new("RGB", (0, 5)), 10)
    with pytest.raises(ValueError, match="the new size is empty"):
        F.resize(pil.new("RGB", (5, 5)), (0, 5))
    assert F.adjust_brightness(pil.new("RGB", (0, 5)), 2.0).size == (0, 5)
    assert F.resize(pil.new("RGB", (1, 1), (1, 2, 3)), (2, 3000)).getpixel((2999, 1)) == (1, 2, 3)


def test_to_tensor_of_pictures():
    rng = np.random.default_rng(0)
    for mode in "RGB", "RGBA", "L", "CMYK":
        image = noise(rng, mode, 9, 7)
        for layout in "CHW", "HWC":
            assert F.to_tensor(image, layout).tolist() == F.to_tensor(np.asarray(image), layout).tolist()
    made = F.to_tensor(noise(rng, "RGB", 9, 7))
    assert made.shape == [3, 7, 9] and made.dtype is wt.float32 and made.is_contiguous()
