"""`static.nn.multi_box_head`, whose boxes are those of `vision.ops`."""
import numpy as np
import pytest

import wherry as paddle

SIDES = (8, 4, 2)


@pytest.fixture(autouse=True)
def static_mode():
    paddle.enable_static()
    with paddle.static.scope_guard(paddle.static.Scope()), paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
        yield
    paddle.disable_static()


def declared():
    layers = [paddle.static.data(f"x{i}", [None, 6, side, side]) for i, side in enumerate(SIDES)]
    return layers, paddle.static.data("image", [None, 3, 64, 64])


def test_each_place_of_each_layer_has_boxes_differences_and_scores():
    layers, image = declared()
    ratios = [[2.0], [2.0, 3.0], 2.0]
    head = paddle.static.nn.multi_box_head(layers, image, 64, 5, ratios, min_ratio=20, max_ratio=90, clip=True, kernel_size=3, pad=1)
    expected = [
        paddle.vision.ops.prior_box(x, image, [low], [high], np.ravel(ratio).tolist(), flip=True, clip=True)
        for x, ratio, low, high in zip(layers, ratios, (6.4, 12.8, 57.6), (12.8, 57.6, 102.4))
    ]
    exe = paddle.static.Executor()
    exe.run(paddle.static.default_startup_program())
    feed = {"image": np.zeros((2, 3, 64, 64), "float32"), **{f"x{i}": np.ones((2, 6, side, side), "float32") for i, side in enumerate(SIDES)}}
    found = exe.run(feed=feed, fetch_list=[*head, *(one for pair in expected for one in pair)])
    many = 8 * 8 * 4 + 4 * 4 * 6 + 2 * 2 * 4
    assert [x.shape for x in found[:4]] == [(2, many, 4), (2, many, 5), (many, 4), (many, 4)]
    np.testing.assert_array_equal(found[2], np.concatenate([x.reshape(-1, 4) for x in found[4::2]]))
    np.testing.assert_array_equal(found[3], np.concatenate([x.reshape(-1, 4) for x in found[5::2]]))
    weights = [p.shape for p in paddle.static.default_main_program().all_parameters() if len(p.shape) == 4]
    assert weights[:2] == [[16, 6, 3, 3], [20, 6, 3, 3]]


def test_sizes_may_be_given_for_each_layer():
    layers, image = declared()
    head = paddle.static.nn.multi_box_head(
        layers[:2], image, 64, 5, [[2.0], [2.0]], min_sizes=[8.0, [16.0, 24.0]], max_sizes=[[], [32.0, 40.0]], steps=[8.0, 16.0]
    )
    assert head[2].shape == [8 * 8 * 3 + 4 * 4 * 8, 4]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "there are no sizes of boxes"),
        ({"min_ratio": 20, "max_ratio": 20}, "grow from layer to layer"),
        ({"min_sizes": [1.0], "max_sizes": [2.0]}, "the length of inputs and min_sizes should be the same"),
        ({"min_ratio": 20, "max_ratio": 90, "step_w": [1.0]}, "step_w"),
    ],
)
def test_what_does_not_fit_is_named(options, said):
    layers, image = declared()
    with pytest.raises(ValueError, match=said):
        paddle.static.nn.multi_box_head(layers, image, 64, 5, [[2.0]] * 3, **options)
