"""Functions and Keras models of TensorFlow through tf2onnx: they give here what TensorFlow and ONNX Runtime give."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
tf = pytest.importorskip("tensorflow", reason="tox run -e exporters-tensorflow")
tf2onnx = pytest.importorskip("tf2onnx")

from agreement import agree  # noqa: E402

LAYERS = tf.keras.layers
IMAGES, WORDS, ROWS = (8, 8, 3), (6,), (5, 4)


def _sequential(*layers: Any) -> Callable[[Any], Any]:
    return tf.keras.Sequential(list(layers))


def _attention() -> Callable[[Any], Any]:
    x = tf.keras.Input(ROWS)
    y = LAYERS.LayerNormalization()(x + LAYERS.MultiHeadAttention(2, 3)(x, x))
    return tf.keras.Model(x, LAYERS.Dense(2)(y))


def _residual() -> Callable[[Any], Any]:
    x = tf.keras.Input(IMAGES)
    y = LAYERS.BatchNormalization()(LAYERS.Conv2D(3, 3, padding="same")(x))
    return tf.keras.Model(x, LAYERS.GlobalAveragePooling2D()(LAYERS.ReLU()(LAYERS.Add()([x, y]))))


def _loop(x: Any) -> Any:
    return tf.while_loop(lambda i, y: i < 4, lambda i, y: (i + 1, tf.tanh(y) + x), (tf.constant(0), x))[1]


def _choice(x: Any) -> Any:
    return tf.cond(tf.reduce_sum(x) > 0, lambda: x * 2.0, lambda: x - 1.0)


# Each makes a function, for inputs of this shape after the batch.
MODELS: dict[str, tuple[Callable[[], Callable[[Any], Any]], tuple[int, ...], str]] = {
    "mlp": (lambda: _sequential(LAYERS.Dense(8, "relu"), LAYERS.Dense(3, "softmax")), (4,), "float32"),
    "activations": (
        lambda: (
            lambda x: (
                tf.nn.elu(x) + tf.nn.selu(x) + tf.nn.swish(x) + tf.nn.leaky_relu(x) + tf.nn.softplus(x) + tf.nn.relu6(x)
            )
        ),
        (4,),
        "float32",
    ),
    "conv": (
        lambda: _sequential(
            LAYERS.Conv2D(4, 3, 2, "same"), LAYERS.ReLU(), LAYERS.MaxPooling2D(2), LAYERS.Flatten(), LAYERS.Dense(2)
        ),
        IMAGES,
        "float32",
    ),
    "depthwise": (
        lambda: _sequential(
            LAYERS.DepthwiseConv2D(3, padding="same"), LAYERS.SeparableConv2D(4, 3), LAYERS.AveragePooling2D(2)
        ),
        IMAGES,
        "float32",
    ),
    "transposed": (
        lambda: _sequential(LAYERS.Conv2DTranspose(2, 3, 2, "same"), LAYERS.UpSampling2D(2)),
        IMAGES,
        "float32",
    ),
    "dilated": (
        lambda: _sequential(LAYERS.Conv2D(2, 3, dilation_rate=2), LAYERS.ZeroPadding2D(1), LAYERS.Cropping2D(1)),
        IMAGES,
        "float32",
    ),
    "conv1d": (
        lambda: _sequential(LAYERS.Conv1D(3, 2, padding="causal"), LAYERS.GlobalMaxPooling1D()),
        ROWS,
        "float32",
    ),
    "residual": (_residual, IMAGES, "float32"),
    "attention": (_attention, ROWS, "float32"),
    "lstm": (lambda: _sequential(LAYERS.LSTM(3, return_sequences=True), LAYERS.LSTM(2)), ROWS, "float32"),
    "gru": (lambda: _sequential(LAYERS.Bidirectional(LAYERS.GRU(3))), ROWS, "float32"),
    "words": (
        lambda: _sequential(LAYERS.Embedding(10, 4), LAYERS.GlobalAveragePooling1D(), LAYERS.Dense(2)),
        WORDS,
        "int32",
    ),
    "loop": (lambda: _loop, (4,), "float32"),
    "choice": (lambda: _choice, (4,), "float32"),
    "einsum": (lambda: lambda x: tf.einsum("bij,bkj->bik", x, x), ROWS, "float32"),
    "topk": (lambda: lambda x: tf.math.top_k(x, 2)[0], ROWS, "float32"),
    "resize": (lambda: lambda x: tf.image.resize(x, (5, 12)), IMAGES, "float32"),
    "gather": (lambda: lambda x: tf.gather(x, [2, 0], axis=1) + tf.reverse(x, [1])[:, :2], ROWS, "float32"),
    "slices": (lambda: lambda x: tf.pad(x[:, 1:4:2, ::-1], [[0, 0], [1, 1], [0, 0]], "REFLECT"), ROWS, "float32"),
    "segments": (lambda: lambda x: tf.cumsum(x, 1, exclusive=True) + tf.one_hot(tf.argmax(x, 2), 4), ROWS, "float32"),
    "depth": (lambda: lambda x: tf.nn.depth_to_space(tf.nn.space_to_depth(x, 4), 2), IMAGES, "float32"),
    "where": (lambda: lambda x: tf.where(x > 0, tf.sqrt(tf.abs(x)), tf.exp(x)) % 0.7, ROWS, "float32"),
}


@pytest.mark.parametrize("opset", [13, 17])
@pytest.mark.parametrize("name", MODELS)
def test_a_model_gives_what_tensorflow_gives(name, opset):
    tf.keras.utils.set_random_seed(0)
    make, shape, dtype = MODELS[name]
    net = make()
    rng = np.random.default_rng(0)
    x = (
        rng.integers(0, 10, (2, *shape)).astype(dtype)
        if dtype == "int32"
        else rng.standard_normal((2, *shape)).astype(dtype)
    )
    function = tf.function(lambda x: net(x), input_signature=[tf.TensorSpec((None, *shape), dtype, name="x")])
    model, _ = tf2onnx.convert.from_function(function, input_signature=function.input_signature, opset=opset)
    agree(model.SerializeToString(), [x], [function(x).numpy()])
