"""Transforms: values of arrays as OpenCV gives them in Paddle, of tensors and of images of Pillow; what is random; errors."""
import colorsys
import random

import numpy as np
import pytest

import wherry_tensor as wt
import wherry_vision.transforms as T
from wherry_vision import image
from wherry_vision.transforms import functional as F

rng = np.random.default_rng(0)
RGB = rng.integers(0, 256, (7, 9, 3), dtype=np.uint8)
GRAY = RGB[..., 0].copy()
SMALL = np.array([[0, 40, 90, 200], [255, 10, 60, 120], [30, 220, 170, 80]], np.uint8)


def tensor(array):
    """A tensor [C, H, W] of an array [H, W, C]."""
    return wt.to_tensor(np.ascontiguousarray(array.transpose(2, 0, 1)))


def array(x):
    return x.numpy().transpose(1, 2, 0)


def picture(x):
    return pytest.importorskip("PIL.Image").fromarray(x)


# Geometry.


@pytest.mark.parametrize(
    ("method", "smaller", "larger"),
    [  # from Paddle 2.6.2 with OpenCV 4.10
        (
            "nearest",
            [[0, 40, 90], [255, 10, 60]],
            [[0, 0, 40, 90, 90, 200], [0, 0, 40, 90, 90, 200], [255, 255, 10, 60, 60, 120], [30, 30, 220, 170, 170, 80]],
        ),
        (
            "bilinear",
            [[58.542, 57.5, 163.75], [99.792, 155.0, 98.75]],
            [[0, 20, 48, 81, 145, 200], [159, 90, 29, 63, 111, 150], [171, 130, 91, 99, 103, 105], [30, 125, 211, 178, 125, 80]],
        ),
        (
            "area",
            [[71.25, 55.0, 150.0], [116.25, 141.667, 103.333]],
            [[0, 20, 40, 90, 145, 200], [170, 95, 20, 70, 108, 146], [180, 130, 80, 96, 101, 106], [30, 125, 220, 170, 125, 80]],
        ),
        (
            "bicubic",
            [[59.033, 39.096, 169.292], [102.102, 170.745, 94.067]],
            [[0, 7, 53, 76, 154, 216], [204, 87, 0, 38, 112, 161], [212, 141, 74, 92, 98, 97], [0, 130, 248, 199, 122, 68]],
        ),
        (
            "lanczos",
            [[62.971, 29.29, 173.558], [106.022, 174.408, 89.261]],
            [[0, 11, 55, 82, 152, 214], [211, 90, 0, 32, 122, 158], [219, 142, 72, 88, 103, 94], [0, 124, 252, 205, 111, 75]],
        ),
    ],
)
def test_resize_of_arrays_has_opencvs_numbers(method, smaller, larger):
    np.testing.assert_allclose(F.resize(SMALL.astype("float32"), (2, 3), method), smaller, atol=2e-3)
    found = F.resize(SMALL, (4, 6), method)
    assert found.dtype == np.uint8
    np.testing.assert_allclose(found, np.array(larger, "float64"), atol=1)  # OpenCV counts in 11 bits


def test_resize_keeps_proportions_channels_and_dtype():
    assert F.resize(RGB, 4).shape == (4, 5, 3) and F.resize(GRAY, 12).shape == (12, 15)
    assert F.resize(RGB[..., :1], (3, 4)).shape == (3, 4, 1)
    assert F.resize(RGB, 7) is RGB  # the shorter side is that already
    assert F.resize(np.swapaxes(RGB, 0, 1), 4).shape == (5, 4, 3)
    assert F.resize(tensor(RGB), 4).shape == [3, 4, 5]


@pytest.mark.parametrize("method", ["nearest", "bilinear", "bicubic"])
def test_resize_of_tensors_is_that_of_arrays(method):
    floats = RGB.astype("float32")
    np.testing.assert_allclose(array(F.resize(tensor(floats), (5, 12), method)), F.resize(floats, (5, 12), method), atol=0.01)
    assert F.resize(tensor(RGB), (5, 12), method).dtype is wt.uint8


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "symmetric"])
@pytest.mark.parametrize("padding", [1, (1, 2), [1, 2, 3, 4]])
def test_pad_is_numpys(mode, padding):
    left, top, right, bottom = {1: (1, 1, 1, 1)}.get(padding) if padding == 1 else (*padding, *padding)[:4]
    widths = [(top, bottom), (left, right), (0, 0)]
    expected = np.pad(RGB, widths, mode=mode, **({"constant_values": 7} if mode == "constant" else {}))
    assert (F.pad(RGB, padding, 7, mode) == expected).all()
    assert (F.pad(GRAY, padding, 7, mode) == expected[..., 0]).all()
    assert (array(F.pad(tensor(RGB.astype("float32")), padding, 7, mode)) == expected).all()


def test_pad_fills_each_channel():
    found = F.pad(RGB, 1, (1, 2, 3))
    assert found[0, 0].tolist() == [1, 2, 3] and (found[1:-1, 1:-1] == RGB).all()
    assert F.pad(GRAY, 1, (1, 2, 3))[0, 0] == 1


def test_crops_and_flips_are_slices():
    for x in (RGB, GRAY):
        assert (F.crop(x, 1, 2, 3, 4) == x[1:4, 2:6]).all()
        assert (F.center_crop(x, (3, 4)) == x[2:5, 2:6]).all() and F.center_crop(x, 5).shape[:2] == (5, 5)
        assert (F.hflip(x) == x[:, ::-1]).all() and (F.vflip(x) == x[::-1]).all()
    floats = RGB.astype("float32")
    for function in (F.hflip, F.vflip, lambda x: F.crop(x, 1, 2, 3, 4), lambda x: F.center_crop(x, 4)):
        assert (array(function(tensor(floats))) == function(floats)).all()


def test_rotating_by_right_angles_moves_every_pixel():
    for x in (RGB, GRAY, RGB.astype("float32")):
        assert (F.rotate(x, 90, expand=True) == np.rot90(x)).all()
        assert (F.rotate(x, 180) == np.rot90(x, 2)).all()
        assert (F.rotate(x, -90, "bilinear", True) == np.rot90(x, -1)).all()
        assert (F.rotate(x, 360) == x).all() and (F.rotate(x, 0) == x).all()
    found = F.rotate(tensor(RGB.astype("float32")), 90, expand=True)
    assert (array(found) == np.rot90(RGB)).all()


@pytest.mark.parametrize("expand", [False, True])
@pytest.mark.parametrize("angle", [30, -45, 200])
def test_rotation_of_tensors_is_that_of_arrays(angle, expand):
    floats = RGB.astype("float32")
    found, expected = array(F.rotate(tensor(floats), angle, "bilinear", expand)), F.rotate(floats, angle, "bilinear", expand)
    np.testing.assert_allclose(found, expected, atol=0.01)


def test_rotation_takes_center_and_fill():
    found = F.rotate(RGB, 180, center=(0, 0), fill=(9, 8, 7))
    assert (found == [9, 8, 7]).all()  # everything has left
    assert F.rotate(RGB, 45, fill=5)[0, 0].tolist() == [5, 5, 5]
    assert F.rotate(RGB, 45, expand=True).shape == (13, 13, 3)


# Colours.


def test_brightness_and_contrast_are_lines():
    assert (F.adjust_brightness(RGB, 1.7) == np.clip(RGB * 1.7, 0, 255).astype("uint8")).all()
    assert (F.adjust_contrast(RGB, 1.7) == np.clip((RGB - 74.0) * 1.7 + 74, 0, 255).astype("uint8")).all()
    floats = RGB.astype("float32") / 255
    np.testing.assert_allclose(F.adjust_brightness(floats, 0.5), floats * 0.5, atol=1e-6)
    np.testing.assert_allclose(array(F.adjust_brightness(tensor(floats), 0.5)), floats * 0.5, atol=1e-6)
    gray = floats @ [0.2989, 0.587, 0.114]
    expected = np.clip(floats * 1.5 - gray.mean() * 0.5, 0, 1)
    np.testing.assert_allclose(array(F.adjust_contrast(tensor(floats), 1.5)), expected, atol=1e-5)


def test_grays_are_weighted_means():
    expected = RGB @ [0.299, 0.587, 0.114]
    np.testing.assert_allclose(F.to_grayscale(RGB)[..., 0], expected, atol=0.51)
    assert (F.to_grayscale(RGB, 3) == F.to_grayscale(RGB)).all() and F.to_grayscale(RGB, 3).shape == (7, 9, 3)
    assert (F.to_grayscale(GRAY)[..., 0] == GRAY).all()
    np.testing.assert_allclose(array(F.to_grayscale(tensor(RGB.astype("float32"))))[..., 0], expected, atol=0.1)


def test_saturation_mixes_with_grays():
    floats = RGB.astype("float32") / 255
    gray = (floats @ np.float32([0.299, 0.587, 0.114]))[..., None]
    for factor in (0, 0.5, 1, 2):
        expected = np.clip(floats * factor + gray * (1 - factor), 0, 1)
        np.testing.assert_allclose(F.adjust_saturation(floats, factor), expected, atol=1e-5)
        np.testing.assert_allclose(array(F.adjust_saturation(tensor(floats), factor)), expected, atol=1e-3)
    assert (F.adjust_saturation(RGB, 1) == RGB).all() and (F.adjust_saturation(GRAY, 0.3) == GRAY).all()


@pytest.mark.parametrize("turn", [-0.5, -0.2, 0, 0.1, 0.5])
def test_hue_turns_as_in_colorsys(turn):
    floats = RGB.astype("float32") / 255

    def turned(pixel):
        hue, saturation, value = colorsys.rgb_to_hsv(*pixel)
        return colorsys.hsv_to_rgb((hue + turn) % 1, saturation, value)

    expected = np.apply_along_axis(turned, 2, floats.astype("float64"))
    np.testing.assert_allclose(F.adjust_hue(floats, turn), expected, atol=1e-5)
    np.testing.assert_allclose(array(F.adjust_hue(tensor(floats), turn)), expected, atol=1e-5)
    np.testing.assert_allclose(F.adjust_hue(RGB, turn), expected * 255, atol=0.51)
    assert (F.adjust_hue(GRAY, turn) == GRAY).all()


def test_gradients_flow_through_tensors():
    x = tensor(RGB.astype("float32") / 300 + 0.05)
    x.stop_gradient = False
    y = F.adjust_hue(F.adjust_contrast(F.rotate(F.pad(F.resize(x, (8, 8)), 1), 20, "bilinear"), 0.9), 0.1)
    y.sum().backward()
    assert x.grad.shape == [3, 7, 9] and bool(x.grad.isfinite().all()) and float(x.grad.abs().sum()) > 0


# From one kind to another.


def test_to_tensor_scales_bytes_alone():
    x = F.to_tensor(RGB)
    assert x.shape == [3, 7, 9] and x.dtype is wt.float32
    np.testing.assert_allclose(array(x), RGB / np.float32(255))
    assert F.to_tensor(GRAY).shape == [1, 7, 9] and F.to_tensor(RGB, "HWC").shape == [7, 9, 3]
    floats = RGB.astype("float32")
    for dtype in ("float32", "float64", "int32"):  # only bytes are scaled, as in Paddle
        other = F.to_tensor(RGB.astype(dtype))
        assert other.dtype.name == dtype and (array(other) == floats).all()
    held = tensor(RGB)
    assert F.to_tensor(held) is held and F.to_tensor(held, "HWC").shape == [7, 9, 3]
    floats = np.zeros((1, 2, 2), "float32")
    F.to_tensor(floats)[...] = 7
    assert not floats.any()


@pytest.mark.parametrize("channels", [1, 2, 3, 4, 9])
def test_bytes_of_any_number_of_channels_become_numpys_quotients(channels):
    large = rng.integers(0, 256, (130, 67, channels), dtype=np.uint8)
    for x in (large, large[3:, ::2], large[:0]):  # whole, a view, empty
        expected = x.astype("float32") / np.float32(255)
        assert (array(F.to_tensor(x)) == expected).all() and (F.to_tensor(x, "HWC").numpy() == expected).all()
        assert (F.hflip(x) == x[:, ::-1]).all() and F.hflip(x).flags.c_contiguous
        mean, std = np.arange(1, channels + 1) * 11.5, np.arange(1, channels + 1) / 3
        normal = (x.astype("float32") - np.float32(mean)) / np.float32(std)
        assert (F.normalize(x, mean, std, "HWC") == normal).all()
        assert (F.normalize(x.transpose(2, 0, 1), mean, std).transpose(1, 2, 0) == normal).all()
        assert (F.normalize(np.ascontiguousarray(x.transpose(2, 0, 1)), mean, std).transpose(1, 2, 0) == normal).all()


def test_large_images_change_colours_as_small_ones_do():
    large = rng.integers(0, 256, (50, 500, 3), dtype=np.uint8)  # several strips
    for change in (lambda x: F.adjust_hue(x, -0.3), T.SaturationTransform((1.7, 1.7))):
        for x in (large, large.astype("float32") / 255):
            assert (change(x)[20:27] == change(x[20:27])).all() and change(x).dtype == x.dtype


def test_normalize_subtracts_and_divides():
    mean, std = [0.5, 0.4, 0.3], [0.1, 0.2, 0.3]
    floats = RGB.astype("float32")
    expected = (floats - np.float32(mean)) / np.float32(std)
    found = F.normalize(RGB, mean, std, "HWC")
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    np.testing.assert_allclose(F.normalize(RGB.transpose(2, 0, 1), mean, std).transpose(1, 2, 0), expected, rtol=1e-6)
    np.testing.assert_allclose(array(F.normalize(tensor(floats), mean, std)), expected, rtol=1e-4, atol=1e-3)
    reversed_ = (floats[..., ::-1] - np.float32(mean)) / np.float32(std)
    np.testing.assert_allclose(F.normalize(RGB, mean, std, "HWC", to_rgb=True), reversed_, rtol=1e-6)
    np.testing.assert_allclose(T.Normalize(127.5, 127.5, "HWC")(RGB), (floats - 127.5) / 127.5, rtol=1e-6)


def test_transpose_gives_grays_an_axis():
    assert (T.Transpose()(RGB) == RGB.transpose(2, 0, 1)).all() and T.Transpose()(GRAY).shape == (1, 7, 9)
    assert T.Transpose((1, 2, 0))(tensor(RGB)).shape == [7, 9, 3]


# Classes.


def seeded(transform, *inputs):
    random.seed(5)
    np.random.seed(5)
    return transform(*inputs)


def test_random_transforms_draw_what_paddle_draws():
    # The numbers of Paddle 2.6.2 for these seeds.
    places = np.arange(63.0).reshape(7, 9, 1)
    crop = seeded(T.RandomCrop(4), places)
    random.seed(5)
    top, left = random.randint(0, 3), random.randint(0, 5)
    assert (crop == places[top : top + 4, left : left + 4]).all()
    wide = np.arange(6300.0).reshape(70, 90, 1)
    random.seed(0)
    np.random.seed(0)
    resized = T.RandomResizedCrop((57, 65), interpolation="nearest")
    assert (resized(wide) == wide[13:70, 12:77]).all()
    random.seed(5)
    expected = random.random() < 0.7
    assert (seeded(T.RandomHorizontalFlip(0.7), places) == (places[:, ::-1] if expected else places)).all()
    random.seed(5)
    angle = random.uniform(-30, 30)
    assert (seeded(T.RandomRotation(30), RGB) == F.rotate(RGB, angle)).all()
    random.seed(5)
    factor = random.uniform(0.6, 1.4)
    assert (seeded(T.BrightnessTransform(0.4), RGB) == F.adjust_brightness(RGB, factor)).all()


def test_parts_of_a_sample_get_the_same_crop():
    both = T.RandomCrop(3, keys=("image", "image"))
    a, b = both((RGB, RGB))
    assert (a == b).all()
    kept = T.RandomCrop(3)((RGB, "label", 7))
    assert kept[1:] == ("label", 7) and kept[0].shape == (3, 3, 3)


def test_random_crop_pads_where_it_must():
    assert T.RandomCrop(12, pad_if_needed=True)(RGB).shape == (12, 12, 3)
    assert T.RandomCrop(9, padding=2)(RGB).shape == (9, 9, 3)
    assert (T.RandomCrop((7, 9))(RGB) == RGB).all()


def test_random_resized_crop_of_a_narrow_image_takes_its_middle():
    narrow = np.zeros((100, 4, 3), np.uint8)
    assert T.RandomResizedCrop(8, scale=(0.9, 1.0), ratio=(1.0, 1.0))(narrow).shape == (8, 8, 3)


@pytest.mark.parametrize(
    "transform",
    [
        T.Resize(4), T.RandomResizedCrop(4), T.CenterCrop(4), T.RandomHorizontalFlip(), T.RandomVerticalFlip(),
        T.BrightnessTransform(0.4), T.SaturationTransform(0.4), T.ContrastTransform(0.4), T.HueTransform(0.3),
        T.ColorJitter(0.4, 0.4, 0.4, 0.1), T.RandomCrop(4), T.Pad(1), T.RandomRotation(30), T.Grayscale(3),
    ],
    ids=lambda transform: type(transform).__name__,
)  # fmt: skip
def test_every_transform_takes_every_kind_of_image(transform):
    for x in (RGB, GRAY, RGB.astype("float32") / 255):
        found = seeded(transform, x)
        assert isinstance(found, np.ndarray) and found.dtype == x.dtype
    for x in (tensor(RGB), tensor(RGB.astype("float32") / 255), wt.rand([2, 3, 7, 9])):
        found = seeded(transform, x)
        assert isinstance(found, wt.Tensor) and found.dtype is x.dtype and found.ndim == x.ndim


def test_zero_jitter_changes_nothing():
    assert T.ColorJitter()(RGB) is RGB and T.HueTransform(0)(RGB) is RGB


def test_compose_runs_in_order_and_says_who_failed():
    both = T.Compose([T.Resize(4), T.ToTensor()])
    assert both(RGB).shape == [3, 4, 5] and "Resize" in repr(both)
    with pytest.raises(TypeError) as caught:
        T.Compose([T.Resize(4)])("no image")
    assert any("in Compose" in note for note in caught.value.__notes__)


def test_a_transform_of_ones_own():
    class Halve(T.BaseTransform):
        def _get_params(self, inputs):
            return 2

        def _apply_image(self, x):
            return x / self.params

        def _apply_boxes(self, boxes):
            return [b / self.params for b in boxes]

    assert Halve(keys=("image", "boxes"))((4.0, [2.0, 6.0], "label")) == (2.0, [1.0, 3.0], "label")
    with pytest.raises(NotImplementedError, match="does not change mask"):
        Halve(keys=("mask",))(4.0)


# Images of Pillow.


def test_pictures_stay_pictures():
    colored = picture(RGB)
    for transform in (T.Resize(4), T.CenterCrop(4), T.ColorJitter(0.4, 0.4, 0.4, 0.4), T.Pad(1, 5), T.Pad(1, 0, "reflect"),
                      T.RandomRotation(30), T.Grayscale(3), T.RandomHorizontalFlip(1), T.RandomVerticalFlip(1)):  # fmt: skip
        assert type(seeded(transform, colored)).__module__.startswith("PIL") and seeded(transform, picture(GRAY)).mode in ("L", "RGB")
    assert F.resize(colored, 4).size == (5, 4)
    assert F.to_tensor(colored).tolist() == F.to_tensor(RGB).tolist()
    assert (np.asarray(F.crop(colored, 1, 2, 3, 4)) == RGB[1:4, 2:6]).all()
    assert (np.asarray(F.rotate(colored, 30)) == F.rotate(RGB, 30)).mean() > 0.98
    assert F.normalize(colored, 1.0, 2.0, "HWC").shape == (7, 9, 3) and T.Transpose()(colored).shape == (3, 7, 9)


def test_image_backends(tmp_path):
    assert image.get_image_backend() == "pil"
    with pytest.raises(ValueError, match="'pil', 'cv2', 'tensor'"):
        image.set_image_backend("other")
    picture(RGB).save(tmp_path / "image.png")
    assert image.image_load(tmp_path / "image.png").size == (9, 7)
    assert (array(image.image_load(tmp_path / "image.png", "tensor")) == RGB).all()


# Errors.


@pytest.mark.parametrize(
    ("use", "error", "message"),
    [
        (lambda: F.resize("x", 4), TypeError, "img should be PIL Image or Tensor Image or ndarray"),
        (lambda: F.hflip(np.zeros(3)), TypeError, r"shape \[3\]"),
        (lambda: F.resize(RGB, "a"), TypeError, "inappropriate size"),
        (lambda: F.resize(RGB, (1, 2, 3)), TypeError, "inappropriate size"),
        (lambda: F.resize(RGB, (0, 2)), ValueError, "sides > 0"),
        (lambda: F.resize(RGB, 4, "cubic"), ValueError, "interpolation is unknown"),
        (lambda: F.resize(tensor(RGB), 4, "lanczos"), ValueError, "interpolation is unknown"),
        (lambda: F.pad(RGB, (1, 2, 3)), ValueError, "2, or 4 element tuple, not a 3"),
        (lambda: F.pad(RGB, "a"), TypeError, "inappropriate padding"),
        (lambda: F.pad(RGB, -1), ValueError, "negative"),
        (lambda: F.pad(RGB, 1, None), TypeError, "fill does not fit"),
        (lambda: F.pad(RGB, 1, 0, "wrap"), AssertionError, "constant, edge, reflect or symmetric"),
        (lambda: F.center_crop(RGB, 8), ValueError, "7 x 9, expected at least 8 x 8"),
        (lambda: F.center_crop(RGB, "a"), ValueError, "is not a valid size"),
        (lambda: F.adjust_brightness(RGB, -1), ValueError, "the factor is negative"),
        (lambda: F.adjust_contrast(RGB, "a"), TypeError, "factor is not a number"),
        (lambda: F.adjust_hue(RGB, 0.6), ValueError, r"\[-0.5, 0.5\]"),
        (lambda: F.rotate(RGB, "a"), TypeError, "angle does not fit"),
        (lambda: F.rotate(RGB, 1, "area"), ValueError, "interpolation is unknown"),
        (lambda: F.to_grayscale(RGB, 2), ValueError, "either 1 or 3"),
        (lambda: F.to_tensor(3), TypeError, "img should be"),
        (lambda: F.to_tensor(RGB, "NCHW"), ValueError, "CHW or HWC"),
        (lambda: F.normalize(RGB, [1, 2, 3], [1, 1, 1]), ValueError, "channels do not fit"),
        (lambda: F.normalize(RGB, [1], [0], "HWC"), ValueError, "no zero"),
        (lambda: T.RandomCrop(20)(RGB), ValueError, "pad_if_needed=True"),
        (lambda: T.Resize("a"), TypeError, "inappropriate size"),
        (lambda: T.RandomHorizontalFlip(2), ValueError, "probability"),
        (lambda: T.RandomRotation(-1), ValueError, "must be positive"),
        (lambda: T.RandomRotation((1, 2, 3)), ValueError, "len 2"),
        (lambda: T.BrightnessTransform(-1), ValueError, "non negative"),
        (lambda: T.BrightnessTransform("a"), TypeError, "single number"),
        (lambda: T.HueTransform(0.7), ValueError, "between"),
        (lambda: T.HueTransform((0.3, 0.1)), ValueError, "between"),
        (lambda: T.RandomResizedCrop(4, (1.0, 0.5)), ValueError, "kind"),
        (lambda: T.Resize(4, keys="image"), TypeError, "keys should be a sequence"),
        (lambda: T.Resize(4, keys=("image", "label"))((RGB, 3)), NotImplementedError, "label is unsupported"),
        (lambda: T.Resize(4, keys=("boxes",))(RGB), NotImplementedError, "does not change boxes"),
    ],
)
def test_wrong_use_is_refused_with_a_reason(use, error, message):
    with pytest.raises(error, match=message):
        use()


def test_channels_that_do_not_fit_are_told_of_tensors_and_arrays():
    for picture in np.zeros([4, 5, 6], "float32"), wt.zeros([4, 5, 6]):
        with pytest.raises(ValueError, match=r"normalize: the channels do not fit. Got an image of shape \[4, 5, 6\] in CHW, 3 means"):
            F.normalize(picture, [0.5] * 3, [0.5] * 3)
