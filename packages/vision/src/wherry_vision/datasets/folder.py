"""Pictures in folders."""
from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from wherry_tensor.arguments import path_of
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, UnavailableError, short
from wherry_train.io.dataset import Dataset
from wherry_vision.image import get_image_backend, image_load, picture_of

__all__ = ["DatasetFolder", "ImageFolder"]

IMG_EXTENSIONS = (".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp")


def _loaded(path: str) -> Any:
    if get_image_backend() == "cv2":
        return image_load(path, "cv2")
    with open(path, "rb") as file:
        return picture_of("DatasetFolder", file, path).convert("RGB")


def _accepting(kind: str, extensions: Any, is_valid_file: Any) -> tuple[Any, Callable[[str], bool]]:
    """The endings of names that are taken, and a function that says so."""
    if extensions is not None and is_valid_file is not None:
        raise InvalidArgumentError(f"{kind}: Both extensions and is_valid_file cannot be not None at the same time. Got both, expected one of them.")
    if is_valid_file is not None:
        if not callable(is_valid_file):
            raise InvalidTypeError(f"{kind}: is_valid_file is a function of a path. Got {short(is_valid_file)}, expected one.")
        return extensions, is_valid_file
    endings = IMG_EXTENSIONS if extensions is None else extensions
    if not isinstance(endings, (list, tuple, str)) or not all(isinstance(ending, str) for ending in endings):
        raise InvalidTypeError(f"{kind}: extensions are the ends of names. Got {short(extensions)}, expected some like ('.png',).")
    small = tuple(ending.lower() for ending in ([endings] if isinstance(endings, str) else endings))
    return endings, lambda path: path.lower().endswith(small)


def _files(folder: str, accepted: Callable[[str], bool]) -> Iterator[str]:
    for place, _, names in sorted(os.walk(folder, followlinks=True)):
        for name in sorted(names):
            path = os.path.join(place, name)
            if accepted(path):
                yield path


class DatasetFolder(Dataset):
    """Files in one folder for each class: `root/cat/a.png`, `root/dog/b/c.png`.

    Args:
        root: the folder of the classes' folders.
        loader: makes a sample of a path; None reads a picture in colours.
        extensions: the ends of names that are taken; None takes those of pictures.
        transform: a function that each sample goes through.
        is_valid_file: says of each path whether it is taken, in place of `extensions`.

    Attributes:
        classes: the names of the folders, in order.
        class_to_idx: their numbers.
        samples: path and class of each file.
        targets: the class of each file.

    Returns:
        Of an index: the sample, and the number of its class.

    Raises:
        RuntimeError: there is no file.
        ValueError: both `extensions` and `is_valid_file` are given; a file is no picture.

    Source:
        `paddle.vision.datasets.DatasetFolder`.
    """

    def __init__(
        self,
        root: str,
        loader: Callable[[str], Any] | None = None,
        extensions: Sequence[str] | None = None,
        transform: Callable[[Any], Any] | None = None,
        is_valid_file: Callable[[str], bool] | None = None,
    ) -> None:
        path_of(root, "DatasetFolder", "root")
        self.root = root
        self.transform = transform
        self.extensions, accepted = _accepting("DatasetFolder", extensions, is_valid_file)
        self.classes = sorted(entry.name for entry in os.scandir(root) if entry.is_dir())
        self.class_to_idx = {name: i for i, name in enumerate(self.classes)}
        self.samples = [(path, i) for name, i in self.class_to_idx.items() for path in _files(os.path.join(root, name), accepted)]
        if not self.samples:
            ends = f"\nSupported extensions are: {','.join(self.extensions)}" if self.extensions else ""
            raise UnavailableError(f"DatasetFolder: Found 0 directories in subfolders of: {root}{ends}. Expected root/class/file.")
        self.loader = _loaded if loader is None else loader
        self.targets = [target for _, target in self.samples]
        self.dtype = "float32"

    def __getitem__(self, index: int) -> tuple[Any, int]:
        path, target = self.samples[index]
        sample = self.loader(path)
        if self.transform is not None:
            sample = self.transform(sample)
        return sample, target

    def __len__(self) -> int:
        return len(self.samples)


class ImageFolder(Dataset):
    """All pictures in a folder and those below it.

    Args:
        root: the folder.
        loader: makes a sample of a path; None reads a picture in colours.
        extensions: the ends of names that are taken; None takes those of pictures.
        transform: a function that each sample goes through.
        is_valid_file: says of each path whether it is taken, in place of `extensions`.

    Attributes:
        samples: the paths.

    Returns:
        Of an index: a list with the sample.

    Raises:
        RuntimeError: there is no file.
        ValueError: both `extensions` and `is_valid_file` are given; a file is no picture.

    Source:
        `paddle.vision.datasets.ImageFolder`.
    """

    def __init__(
        self,
        root: str,
        loader: Callable[[str], Any] | None = None,
        extensions: Sequence[str] | None = None,
        transform: Callable[[Any], Any] | None = None,
        is_valid_file: Callable[[str], bool] | None = None,
    ) -> None:
        path_of(root, "ImageFolder", "root")
        self.root = root
        self.transform = transform
        self.extensions, accepted = _accepting("ImageFolder", extensions, is_valid_file)
        self.samples = list(_files(root, accepted))
        if not self.samples:
            ends = f"\nSupported extensions are: {','.join(self.extensions)}" if self.extensions else ""
            raise UnavailableError(f"ImageFolder: Found 0 files in subfolders of: {root}{ends}. Expected pictures.")
        self.loader = _loaded if loader is None else loader

    def __getitem__(self, index: int) -> list[Any]:
        sample = self.loader(self.samples[index])
        if self.transform is not None:
            sample = self.transform(sample)
        return [sample]

    def __len__(self) -> int:
        return len(self.samples)
