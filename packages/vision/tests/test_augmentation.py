"""RandomAffine, RandomErasing, RandomPerspective and their functions; and arguments that are of no use, over all transforms."""
import inspect
import math
import random

import numpy as np
import pytest

import wherry_tensor as wt
from wherry_tensor import errors
from wherry_vision import transforms as T

RGB = np.arange(6 * 8 * 3, dtype="uint8").reshape(6, 8, 3)
KINDS = {
    "array": lambda a: a,
    "tensor": lambda a: wt.to_tensor(a.transpose(2, 0, 1)),
    "picture": lambda a: pytest.importorskip("PIL.Image", reason="Pillow is not installed").fromarray(a),
}


def values(image):
    return image.numpy().transpose(1, 2, 0) if isinstance(image, wt.Tensor) else np.array(image)


@pytest.mark.parametrize("kind", KINDS)
def test_affine_moves_turns_and_scales(kind):
    image = KINDS[kind](RGB)
    np.testing.assert_array_equal(values(T.affine(image, 0, (0, 0), 1.0, (0, 0))), RGB)
    moved = values(T.affine(image, 0, (2, -1), 1.0, 0, fill=9))
    np.testing.assert_array_equal(moved[:-1, 2:], RGB[1:, :-2])
    assert (moved[-1] == 9).all() and (moved[:, :2] == 9).all()
    np.testing.assert_array_equal(values(T.affine(image, 180, (0, 0), 1.0, 0)), RGB[::-1, ::-1])
    large = values(T.affine(image, 0, (0, 0), 2.0, 0))
    np.testing.assert_array_equal(large, RGB[[1, 2, 2, 3, 3, 4]][:, [2, 2, 3, 3, 4, 4, 5, 5]])


@pytest.mark.parametrize("interpolation", ["nearest", "bilinear"])
def test_a_quarter_turn_is_that_of_rotate(interpolation):
    square = RGB[:, :6]
    np.testing.assert_array_equal(T.affine(square, -90, (0, 0), 1.0, 0, interpolation), T.rotate(square, 90, interpolation))


def test_a_shear_moves_rows_along():
    # By 45 degrees: a row moves by its distance from the middle, half a pixel more or less.
    square = np.zeros([5, 5], "uint8")
    square[:, 2] = 1
    sheared = T.affine(square, 0, (0, 0), 1.0, (45, 0))
    np.testing.assert_array_equal(sheared, np.eye(5, dtype="uint8")[::-1])


CORNERS = [[0, 0], [8, 0], [8, 6], [0, 6]]


@pytest.mark.parametrize("kind", KINDS)
def test_perspective_takes_points_to_points(kind):
    image = KINDS[kind](RGB)
    np.testing.assert_array_equal(values(T.perspective(image, CORNERS, CORNERS)), RGB)
    mirrored = values(T.perspective(image, CORNERS, [CORNERS[i] for i in (1, 0, 3, 2)]))
    np.testing.assert_array_equal(mirrored, RGB[:, ::-1])
    moved = values(T.perspective(image, CORNERS, [[x + 2, y - 1] for x, y in CORNERS], fill=(7, 8, 9)))
    np.testing.assert_array_equal(moved[:-1, 2:], RGB[1:, :-2])
    np.testing.assert_array_equal(moved[-1], np.broadcast_to([7, 8, 9], (8, 3)))


@pytest.mark.parametrize("interpolation", ["nearest", "bilinear"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_image_looks_the_same_from_the_side(kind, interpolation):
    pictured = KINDS["picture"](RGB)
    end = [[1, 0], [8, 1], [6, 5], [0, 4]]
    expected = values(T.perspective(pictured, CORNERS, end, interpolation)).astype(int)
    found = values(T.perspective(KINDS[kind](RGB), CORNERS, end, interpolation)).astype(int)
    assert np.abs(found - expected).max() <= (interpolation == "bilinear")  # Pillow cuts bytes off where ours are rounded


def test_random_perspective_moves_corners_inwards_as_often_as_it_is_told():
    random.seed(0)
    transform = T.RandomPerspective(0.3, 0.5)
    changed = 0
    for _ in range(300):
        assert transform(RGB).shape == RGB.shape
        if transform.params is not None:
            changed += 1
            start, end = transform.params
            assert start == [[0, 0], [7, 0], [7, 5], [0, 5]]
            assert all(abs(x - u) <= 2 and abs(y - v) <= 1 and 0 <= u <= 7 and 0 <= v <= 5 for (x, y), (u, v) in zip(start, end))
    assert 60 < changed < 120
    np.testing.assert_array_equal(T.RandomPerspective(0.0)(RGB), RGB)
    np.testing.assert_array_equal(T.RandomPerspective(1.0, 1.0)(RGB[:1]), RGB[:1])  # of one row nothing can be seen from the side
    assert repr(T.RandomPerspective(1.0)) == "RandomPerspective(prob=1.0)"


@pytest.mark.parametrize("kind", KINDS)
def test_a_part_is_erased(kind):
    image = KINDS[kind](RGB.copy())
    expected = RGB.copy()
    expected[1:4, 2:7] = 5
    np.testing.assert_array_equal(values(T.erase(image, 1, 2, 3, 5, 5)), expected)
    np.testing.assert_array_equal(values(image), RGB)
    if kind != "picture":
        assert T.erase(image, 1, 2, 3, 5, 5, inplace=True) is image
        np.testing.assert_array_equal(values(image), expected)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("value", [0, 7, (1, 2, 3), "random"])
def test_random_erasing_writes_a_rectangle_of_the_promised_size(kind, value):
    random.seed(1)
    np.random.seed(1)
    transform = T.RandomErasing(1.0, scale=(0.1, 0.3), value=value)
    for _ in range(20):
        image = np.full((20, 24, 3), 250, "uint8")
        changed = values(transform(KINDS[kind](image)))
        if transform.params is None:
            np.testing.assert_array_equal(changed, image)
            continue
        top, left, down, across = transform.params
        inside = changed[top : top + down, left : left + across]
        if value != "random":
            np.testing.assert_array_equal(inside, np.broadcast_to(value, inside.shape))
        changed[top : top + down, left : left + across] = 250
        np.testing.assert_array_equal(changed, image)
        assert 0.05 < down * across / (20 * 24) < 0.4  # sides are rounded


def test_probability_and_gray_images():
    random.seed(0)
    transform = T.RandomErasing(0.25)
    hits = sum(int((transform(np.ones([16, 16], "float32")) == 0).any()) for _ in range(400))
    assert 70 < hits < 130
    assert T.RandomErasing(0.0)(RGB) is RGB
    noisy = T.RandomErasing(1.0, value="random")(wt.ones([1, 16, 16]))
    assert noisy.shape == [1, 16, 16] and noisy.dtype.name == "float32"


def test_random_affine_draws_within_its_ranges():
    random.seed(0)
    transform = T.RandomAffine((-10, 20), translate=(0.1, 0.5), scale=(0.5, 2.0), shear=(1, 2, -4, -3))
    for _ in range(50):
        assert transform(RGB).shape == RGB.shape
        angle, (across, down), factor, (x, y) = transform.params
        assert -10 <= angle <= 20 and abs(across) <= 1 and abs(down) <= 3 and 0.5 <= factor <= 2 and 1 <= x <= 2 and -4 <= y <= -3
    np.testing.assert_array_equal(T.RandomAffine(0)(RGB), RGB)
    assert repr(T.RandomAffine(10, shear=5)) == "RandomAffine(degrees=(-10, 10), shear=(-5, 5))"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: T.affine(RGB, 0, (0, 0), 0, 0), "scale does not fit.*a number above 0"),
        (lambda: T.affine(RGB, 0, (0,), 1, 0), "translate does not fit"),
        (lambda: T.affine(RGB, 0, (0, 0), 1, 90), "the shear is 90 degrees"),
        (lambda: T.affine(RGB, 0, (0, 0), 1, 0, "area"), "interpolation is unknown"),
        (lambda: T.affine(RGB, 0, (0, 0), 1, 0, fill=(1, 2)), "Got 2 for 3 channels"),
        (lambda: T.perspective(RGB, CORNERS[:3], CORNERS), "startpoints does not fit.*four points"),
        (lambda: T.perspective(RGB, CORNERS, [[0, 0], [1, 1], [2, 2], [0, 5]]), "three of endpoints lie on a line"),
        (lambda: T.perspective(RGB, CORNERS, CORNERS, "area"), "interpolation is unknown"),
        (lambda: T.RandomPerspective(1.5), "prob must be between 0 and 1. Got 1.5"),
        (lambda: T.RandomPerspective(distortion_scale=-1), "distortion_scale must be between"),
        (lambda: T.RandomPerspective().get_params(8, 6, math.inf), "distortion_scale does not fit.*0 to 1"),
        (lambda: T.RandomPerspective().get_params("8", 6, 0.5), "width does not fit"),
        (lambda: T.erase(RGB, 0, 0, 7, 1, 0), "the part is not in the image. Got rows 0 to 7"),
        (lambda: T.erase(RGB, -1, 0, 1, 1, 0), "the part is not in the image"),
        (lambda: T.erase(RGB, 0, 0, 2, 2, np.zeros(5)), "the values do not fit"),
        (lambda: T.RandomErasing(1.5), "prob is not a probability"),
        (lambda: T.RandomErasing(scale=(0.5, 0.1)), "of kind \\(min, max\\)"),
        (lambda: T.RandomErasing(1.0, scale=(0.3, 0.3), value=(1, 2))(RGB), "Got 2 for 3 channels"),
        (lambda: T.RandomErasing(value="red"), "'random'"),
        (lambda: T.RandomAffine(-1), "degrees is not a range"),
        (lambda: T.RandomAffine((1, 0)), "degrees is not a range"),
        (lambda: T.RandomAffine(1, translate=(2, 0)), "two numbers from 0 to 1"),
        (lambda: T.RandomAffine(1, scale=(0, 1)), "two numbers above 0"),
        (lambda: T.resize(np.zeros([0, 8, 3], "uint8"), 4), "the image has no pixels"),
        (lambda: T.RandomCrop(4, keys=("mask",))((RGB,)), "there is no image in the sample"),
        (lambda: T.Compose([3]), "a list of transforms or functions"),
    ],
)
def test_what_is_out_of_place_is_named(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call()


DEEP: list = []  # its repr fails
for _ in range(5000):
    DEEP = [DEEP]
HOSTILE = [
    None, "x", -1, 0, 1.5, math.nan, math.inf, 10**30, [], {}, object(), (1, 2, 3), [None], True, np.zeros(3), wt.zeros([2]), b"a", (0, 0), DEEP,
]
GIVEN = {
    "size": 4, "output_size": 4, "transforms": [], "value": 0.1, "padding": 1, "degrees": 10, "mean": 0.5, "std": 0.5, "top": 0, "left": 0,
    "height": 2, "width": 2, "angle": 10, "i": 0, "j": 0, "h": 2, "w": 2, "v": 0, "translate": (0, 0), "scale": 1.0, "shear": (0, 0),
    "brightness_factor": 1.0, "contrast_factor": 1.0, "saturation_factor": 1.0, "hue_factor": 0.1,
    "startpoints": CORNERS, "endpoints": CORNERS,
}


@pytest.mark.parametrize("name", sorted(set(T.__all__) - {"BaseTransform"}))
def test_no_argument_ends_in_an_error_of_python(name):
    """Whatever is given: it works, or the error says what was got and expected."""
    function = getattr(T, name)
    own = tuple(kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, Exception))
    parameters = [p for p in inspect.signature(function).parameters.values() if p.name not in ("img", "pic")]
    needed = {p.name: GIVEN[p.name] for p in parameters if p.default is p.empty}
    for image in (RGB, wt.to_tensor(RGB.transpose(2, 0, 1).astype("float32"))):
        for parameter in parameters:
            for value in HOSTILE:
                arguments = {**needed, parameter.name: value}
                try:
                    made = function(**arguments) if isinstance(function, type) else function(image, **arguments)
                    if isinstance(function, type):
                        made(image)
                except own as error:
                    assert "ot " in str(error), (name, arguments)
                except Exception as error:
                    assert "Got" in str(error), f"{name}({arguments}): {type(error).__name__}: {error}"
