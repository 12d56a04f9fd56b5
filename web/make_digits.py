"""Writes static/data/digits.bin from scikit-learn's handwritten digits.

    python web/make_digits.py

1797 images of 8 x 8 (a byte each, 0 to 16, row by row), then 1797 labels (a byte each). They are shuffled; the
first four fifths are trained on (examples/digits_data.py reads this file, too).
Source: E. Alpaydin & C. Kaynak (1998), Optical Recognition of Handwritten Digits, UCI Machine Learning Repository,
CC BY 4.0; the copy in scikit-learn.
"""
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

found = load_digits()
order = np.random.default_rng(0).permutation(len(found.target))
path = Path(__file__).parent / "src" / "wherry_web" / "static" / "data" / "digits.bin"
path.write_bytes(found.images[order].astype(np.uint8).tobytes() + found.target[order].astype(np.uint8).tobytes())
print(f"{path}: {path.stat().st_size} bytes")
