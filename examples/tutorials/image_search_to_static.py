"""The network of image_search.py as a program: `to_static` while it trains, `jit.save`, and `jit.load` without its code.

    wherry run examples/tutorials/image_search_to_static.py
"""
import tempfile

import numpy as np
import paddle
from image_search import Embedding, main
from paddle.static import InputSpec


class Captured(Embedding):
    """It trains with batches of ten and is saved for any number of pictures."""

    forward = paddle.jit.to_static(Embedding.forward, input_spec=[InputSpec([None, 3, 32, 32], "float32", name="picture")])


def search():
    paddle.seed(8)
    network, pictures = main(Captured(), steps=60)
    with tempfile.TemporaryDirectory() as folder:
        paddle.jit.save(network, f"{folder}/search")
        loaded = paddle.jit.load(f"{folder}/search")
    loaded.eval()
    for count in (1, 12, 100):
        with paddle.no_grad():
            expected, found = (one(paddle.to_tensor(pictures[:count])).numpy() for one in (network, loaded))
        print(count, "pictures:", found.shape, "agree" if np.allclose(expected, found, atol=1e-5) else "differ")


if __name__ == "__main__":
    search()
