"""The PASCAL Visual Object Classes of 2012, for segmentation: Everingham et al. (2015)."""
from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np

from wherry_train.data_files import Archive, file_of, mode_of
from wherry_train.io.dataset import Dataset
from wherry_vision.datasets.files import as_floats, backend_of
from wherry_vision.image import picture_of

__all__ = ["VOC2012"]

_SOURCE = ("https://dataset.bj.bcebos.com/voc/VOCtrainval_11-May-2012.tar", "6cd6e144f989b92b3379bac3b3de84fd")
_SETS = {"train": "trainval", "test": "train", "valid": "val"}  # Paddle's split
_ROOT = "VOCdevkit/VOC2012/"


class VOC2012(Dataset):
    """Images with a class for each pixel, for segmentation.

    Args:
        data_file: the path of the archive VOCtrainval_11-May-2012.tar; None downloads it.
        mode: "train" (pictures to train and to validate), "valid", or "test" (those to train).
        transform: a function that each picture goes through.
        download: whether the archive may be downloaded.
        backend: "pil" gives images of Pillow, "cv2" arrays of float32; None takes that of `set_image_backend`.

    Returns:
        Of an index: the picture, and the classes of its pixels as an image of the same size (255 where there is no label).

    Raises:
        AssertionError: the file is not given and must not be downloaded, or `mode` is unknown (also a ValueError).
        ValueError: the file is damaged or another one, or `backend` is unknown.
        RuntimeError: the file cannot be downloaded.

    Source:
        `paddle.vision.datasets.VOC2012`.
    """

    def __init__(
        self,
        data_file: Any = None,
        mode: str = "train",
        transform: Callable[[Any], Any] | None = None,
        download: bool = True,
        backend: str | None = None,
    ) -> None:
        mode = mode_of("VOC2012", mode, ("train", "valid", "test"))
        self.backend = backend_of("VOC2012", backend)
        self.flag = _SETS[mode]
        self.data_file = file_of("VOC2012", "data_file", data_file, *_SOURCE, "voc2012", download)
        self.transform = transform
        self.dtype = "float32"
        self._archive = Archive("VOC2012", self.data_file)
        listed = self._archive.read(f"{_ROOT}ImageSets/Segmentation/{self.flag}.txt")
        self._names = listed.decode("utf-8", "replace").split()

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        name = self._names[index]
        picture, label = (
            picture_of("VOC2012", io.BytesIO(self._archive.read(_ROOT + path)), self.data_file)
            for path in (f"JPEGImages/{name}.jpg", f"SegmentationClass/{name}.png")
        )
        if self.backend == "cv2":
            picture, label = np.array(picture), np.array(label)
        if self.transform is not None:
            picture = self.transform(picture)
        return (picture, label) if self.backend == "pil" else (as_floats(picture, self.dtype), as_floats(label, self.dtype))

    def __len__(self) -> int:
        return len(self._names)
